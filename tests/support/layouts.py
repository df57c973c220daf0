# SPDX-License-Identifier: MIT OR GPL-2.0
"""Returns what the modelled driver built (the model's `layout`), in the words of the /proc files."""


def number(text):
    return int(text, 16)


def place(at):
    """Returns an address and an aperture of a layout in a form that can be compared."""
    return number(at["address"]), at["aperture"]


def by_channel(layout):
    return {(entry["runlist"], entry["channel"]): entry for entry in layout["channels"]}


def entry_of(model, channel):
    """Returns address, aperture and words of a channel's 16-byte entry in runlist 0."""
    at = next(entry for entry in model.request("layout")["runlists"] if entry["id"] == 0)
    words = [number(word) for word in model.request(
        "peek", at["aperture"], at["address"], 4 * at["entries"])["words"]]
    for i in range(0, len(words), 4):
        if not words[i] & 1 and words[i + 2] & 0xfff == channel:
            return number(at["address"]) + 4 * i, at["aperture"], words[i:i + 4]
    raise AssertionError(f"no channel {channel}")
