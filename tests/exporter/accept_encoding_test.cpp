// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/exporter/accept_encoding.hpp"

#include <gtest/gtest.h>
#include <string>

namespace nvdebug::exporter {
namespace {

std::string asking(const std::string &fields) {
    return "GET /metrics HTTP/1.1\r\nHost: n\r\n" + fields + "\r\n";
}

bool accepts(const std::string &value) {
    return takes_gzip(asking("Accept-Encoding: " + value + "\r\nUser-Agent: gzip\r\n"));
}

TEST(AcceptEncoding, GzipIsTakenByItsWeight) {
    for (const char *const value : {"gzip",
                                    "GZip",
                                    "x-gzip",
                                    "gzip, deflate, br",
                                    "deflate,gzip",
                                    "  gzip\t",
                                    "gzip;q=1",
                                    "gzip;q=1.000",
                                    "gzip ;\tq=0.001",
                                    "gzip;Q=0.5",
                                    "br;q=1, gzip;q=0.1",
                                    "*",
                                    "*;q=0.1",
                                    "identity;q=0, *",
                                    "identity;q=0.5, gzip;q=0.5",
                                    "gzip;q=1, *;q=0",
                                    "identity;q=0, gzip",
                                    ",, ,gzip,",
                                    "deflate;q=0, gzip",
                                    "gzip;q=0.2, identity;q=0.1",
                                    "gzip, identity"})
        EXPECT_TRUE(accepts(value)) << value;
}

TEST(AcceptEncoding, GzipIsRefusedByAWeightOfZero) {
    for (const char *const value :
         {"gzip;q=0", "gzip;q=0.0", "gzip; q=0.000", "GZIP ;Q=0", "gzip;q=0, *", "*;q=0",
          "gzip;q=0.", "br, gzip;q=0", "x-gzip;q=0", "gzip, gzip;q=0", "gzip;q=0, gzip",
          "gzip;q=0, x-gzip"})
        EXPECT_FALSE(accepts(value)) << value;
}

TEST(AcceptEncoding, IdentityWithAHigherWeightIsKept) {
    for (const char *const value :
         {"identity", "identity, gzip;q=0.5", "gzip;q=0.999, identity;q=1", "*;q=1, gzip;q=0.5",
          "identity, *;q=0.1"})
        EXPECT_FALSE(accepts(value)) << value;
}

TEST(AcceptEncoding, OtherWordsAreNotGzip) {
    for (const char *const value :
         {"", " ", ",", "deflate", "br", "gzipped", "notgzip", "x-gzip2", "gzip-9", "deflate;gzip",
          "deflate;q=gzip", "g zip", "\"gzip\"", "gzip\x01", "gz\tip", "**", "*gzip"})
        EXPECT_FALSE(accepts(value)) << value;
    EXPECT_FALSE(accepts(std::string("gzip\0", 5)));
}

TEST(AcceptEncoding, MalformedWeightsRefuse) {
    for (const char *const value : {"gzip;",         "gzip;q",       "gzip;q=",
                                    "gzip;q=x",      "gzip;q=2",     "gzip;q=1.001",
                                    "gzip;q=0.1234", "gzip;q=-1",    "gzip;q=+1",
                                    "gzip;q=.5",     "gzip;q=1e0",   "gzip;q= 1",
                                    "gzip;q =1",     "gzip;q=01",    "gzip;q=1;q=1",
                                    "gzip;level=9",  "gzip;q=\"1\"", "gzip;q=0x1",
                                    "gzip;q=1..",    "gzip;q=10",    "gzip;q=99999999999999999999",
                                    "gzip;q=, *"})
        EXPECT_FALSE(accepts(value)) << value;
}

TEST(AcceptEncoding, SeveralLinesAreOneList) {
    EXPECT_TRUE(takes_gzip(asking("Accept-Encoding: br\r\nX: y\r\naccept-encoding: gzip\r\n")));
    EXPECT_TRUE(takes_gzip(asking("ACCEPT-ENCODING:gzip\r\n")));
    EXPECT_FALSE(takes_gzip(asking("Accept-Encoding: gzip\r\nAccept-Encoding: gzip;q=0\r\n")));
    EXPECT_FALSE(takes_gzip(asking("Accept-Encoding: *\r\nAccept-Encoding: gzip;q=0\r\n")));
    EXPECT_TRUE(takes_gzip(asking("Accept-Encoding: br,\r\n gzip\r\n"))) << "continued";
    EXPECT_FALSE(takes_gzip(asking("Accept-Encoding: gzip\r\n\t;q=0\r\n")));
    EXPECT_TRUE(takes_gzip("GET / HTTP/1.1\nAccept-Encoding: gzip\n\n")) << "without CR";
}

TEST(AcceptEncoding, OtherFieldsAndBodiesDoNotCount) {
    EXPECT_FALSE(takes_gzip(asking("")));
    for (const char *const fields :
         {"X-Accept-Encoding: gzip\r\n", "Accept-Encoding : gzip\r\n", "Accept-Encoding\r\n",
          "Accept: Accept-Encoding: gzip\r\n", "X: y\r\n Accept-Encoding: gzip\r\n",
          "Accept-Encodings: gzip\r\n", "Accept-Encodin: gzip\r\n", "TE: gzip\r\n",
          "X: y\rAccept-Encoding: gzip\r\n", ": gzip\r\n"})
        EXPECT_FALSE(takes_gzip(asking(fields))) << fields;
    EXPECT_FALSE(takes_gzip(asking("") + "Accept-Encoding: gzip\r\n\r\n")) << "a body";
    EXPECT_FALSE(takes_gzip("Accept-Encoding: gzip\r\n\r\n")) << "the first line is the request's";
}

/// Every request gets an answer, whatever its bytes are, also if its head is cut anywhere.
TEST(AcceptEncoding, HostileRequestsHaveAnAnswer) {
    const std::string whole = asking("Accept-Encoding: gzip;q=0.5, *;q=0\r\n X\r\n");
    for (std::size_t size = 0; size <= whole.size(); size++)
        EXPECT_FALSE(takes_gzip(whole.substr(0, size)) && size < whole.find("gzip") + 4) << size;
    for (const std::string part :
         {"\n", ":", ";", ",", " ", "\r", "\xff", "gzip;", "q=", "a:b\n"}) {
        std::string many = "GET / HTTP/1.1\nAccept-Encoding:";
        while (many.size() < 12'000)
            many += part;
        EXPECT_FALSE(takes_gzip(many)) << part;
        EXPECT_FALSE(takes_gzip(std::string(12'000, part[0]))) << part;
    }
    EXPECT_FALSE(takes_gzip(std::string(12'000, '\0')));
    EXPECT_FALSE(takes_gzip(""));
}

} // namespace
} // namespace nvdebug::exporter
