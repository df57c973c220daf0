// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The page of recordings in HTML; lines of NDJSON follow it. It loads nothing. */
#ifndef NVDEBUGCTL_RECORDING_PAGE_HPP
#define NVDEBUGCTL_RECORDING_PAGE_HPP

namespace nvdebugctl {

inline constexpr const char *recording_page = R"html(<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>nvdebugctl record</title>
<style>
body { font: 13px system-ui, sans-serif; margin: 1em; color: #222; background: #fff; }
canvas { width: 100%; display: block; border: 1px solid #ccc; cursor: grab; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd; }
td:nth-child(-n+3), th:nth-child(-n+3) { text-align: left; }
#tip { min-height: 3em; white-space: pre; font-family: monospace; margin: .5em 0; }
#cut { color: #a00; }
</style>
<h1>Who had the GPU</h1>
<p id="about"></p>
<p id="cut"></p>
<p>Wheel: zoom. Drag: move. Double click: all of it. A turn's ends are where the driver recorded a switch, or half way
between two samples.</p>
<canvas id="view" tabindex="0"></canvas>
<div id="tip"></div>
<table id="table"></table>
<script>
'use strict';
document.addEventListener('DOMContentLoaded', () => {
  const ns = (line, key) => { const m = line.match('"' + key + '":(\\d+)'); return m ? BigInt(m[1]) : null; };
  const rows = new Map(), names = new Map(), marks = [], lost = [];
  let last = 0, zero = null, summary = null, head = null;
  const clocks = new Map(); // of each GPU: its own time, and the host's at that moment
  const set = (gpu, own, host) => { if (zero === null) zero = host; if (!clocks.has(gpu)) clocks.set(gpu, own - host); };
  const at = (gpu, t) => {
    set(gpu, t, zero ?? t);
    const n = Number(t - clocks.get(gpu) - zero);
    if (n > last) last = n;
    return n;
  };
  const row = (name, order) => {
    if (!rows.has(name)) rows.set(name, { name, order, turns: [] });
    return rows.get(name);
  };
  const who = (gpu, one) => {
    const command = one.process ?? names.get(gpu + ':' + one.pid);
    if (command) return command + '[' + one.pid + ']';
    if (one.pid === 0) return 'hidden';
    if (one.pid === 4294967295) return 'the driver';
    if (one.pid !== null) return 'pid ' + one.pid;
    if (one.tsg !== null) return 'TSG ' + one.runlist + ':' + one.tsg;
    return one.channel !== null ? 'channel ' + one.runlist + ':' + one.channel : 'unknown';
  };
  for (const line of document.getElementById('lines').textContent.split('\n')) {
    if (!line) continue;
    let one;
    try { one = JSON.parse(line); } catch { continue; } // the last, where it was cut
    if (one.kind === 'recording') head = one;
    if (one.kind === 'clock') set(one.gpu, ns(line, 'gpu_ns'), ns(line, 'monotonic_ns'));
    if (one.kind === 'process') names.set(one.gpu + ':' + one.pid, one.process);
    if (one.kind === 'summary') summary = one.summary;
    if (one.kind === 'mark') marks.push({ at: at(one.gpu, ns(line, 'ns')), text: one.text });
    if (one.kind === 'lost') lost.push({ at: at(one.gpu, ns(line, 'after_ns')), text: one.switches + ' switches lost' });
    if (one.kind !== 'turn') continue;
    const turn = { begin: at(one.gpu, ns(line, 'begin_ns')), end: at(one.gpu, ns(line, 'end_ns')), who: who(one.gpu, one),
      engine: 'gpu' + one.gpu + ' ' + one.engine, one, line };
    row(turn.engine, 0).turns.push(turn);
    row(turn.who, 1).turns.push(turn);
    if (one.tsg !== null && one.pid !== null)
      row(turn.who + ' TSG ' + one.runlist + ':' + one.tsg, 1).turns.push(turn);
  }
  const lanes = [...rows.values()].sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
  for (const lane of lanes) lane.turns.sort((a, b) => a.begin - b.begin);
  const hues = new Map();
  const color = name => {
    if (!hues.has(name)) hues.set(name, 'hsl(' + (hues.size * 137.5) % 360 + ' 65% 55%)');
    return hues.get(name);
  };
  const canvas = document.getElementById('view'), pen = canvas.getContext('2d'), left = 190, high = 22;
  let from = 0, to = Math.max(last, 1);
  const time = t => t >= 1e9 ? (t / 1e9).toFixed(3) + ' s' : t >= 1e6 ? (t / 1e6).toFixed(3) + ' ms' : (t / 1e3).toFixed(3) + ' us';
  const first = (turns, t) => { // the first that ends after t
    let low = 0, top = turns.length;
    while (low < top) { const mid = (low + top) >> 1; if (turns[mid].end <= t) low = mid + 1; else top = mid; }
    return low;
  };
  const draw = () => {
    const scale = devicePixelRatio || 1, wide = canvas.clientWidth, tall = lanes.length * high + 24;
    canvas.style.height = tall + 'px';
    canvas.width = wide * scale; canvas.height = tall * scale;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = '12px system-ui, sans-serif';
    const x = t => left + (t - from) / (to - from) * (wide - left);
    lanes.forEach((lane, n) => {
      const y = n * high + 2;
      pen.fillStyle = '#222';
      pen.fillText(lane.name.slice(0, 30), 4, y + 14);
      let edge = -1;
      for (let i = first(lane.turns, from); i < lane.turns.length && lane.turns[i].begin < to; i++) {
        const turn = lane.turns[i], a = Math.max(x(turn.begin), left), b = Math.min(x(turn.end), wide);
        if (b < edge + .5) continue; // nothing of it would be seen
        edge = Math.max(b, a + 1);
        pen.fillStyle = color(turn.who);
        pen.fillRect(a, y, Math.max(b - a, 1), high - 4);
        if (b - a > 60) { pen.fillStyle = '#fff'; pen.fillText(turn.who.slice(0, (b - a) / 7), a + 3, y + 13); }
      }
    });
    for (const [list, ink] of [[marks, '#06c'], [lost, '#c00']])
      for (const one of list) if (one.at >= from && one.at <= to) {
        pen.fillStyle = ink; pen.fillRect(x(one.at), 0, 1, lanes.length * high);
      }
    pen.fillStyle = '#222';
    for (let i = 0; i <= 5; i++)
      pen.fillText(time(from + (to - from) * i / 5), left + (wide - left - 70) * i / 5, lanes.length * high + 16);
  };
  const under = event => from + (event.offsetX - left) / (canvas.clientWidth - left) * (to - from);
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    const t = under(event), by = event.deltaY > 0 ? 1.3 : 1 / 1.3;
    from = Math.max(0, t - (t - from) * by); to = Math.min(Math.max(last, 1), t + (to - t) * by);
    if (to - from < 10) to = from + 10;
    draw();
  }, { passive: false });
  canvas.addEventListener('dblclick', () => { from = 0; to = Math.max(last, 1); draw(); });
  canvas.addEventListener('mousemove', event => {
    const t = under(event);
    if (event.buttons) {
      const by = -event.movementX / (canvas.clientWidth - left) * (to - from);
      if (from + by >= 0 && to + by <= Math.max(last, 1)) { from += by; to += by; draw(); }
      return;
    }
    const lane = lanes[Math.floor(event.offsetY / high)], near = (to - from) / (canvas.clientWidth - left) * 3;
    const turn = lane && lane.turns[first(lane.turns, t)];
    const mark = [...marks, ...lost].find(one => Math.abs(one.at - t) < near);
    document.getElementById('tip').textContent = (mark ? mark.text + ' at ' + time(mark.at) + '\n' : '') +
      (turn && turn.begin <= t ? turn.who + ' on ' + turn.engine + ': ' + time(turn.end - turn.begin) + ' from ' +
        time(turn.begin) + (turn.one.whole ? '' : ', cut') + '\n' + turn.line : '');
  });
  addEventListener('resize', draw);
  if (head) document.getElementById('about').textContent = head.time + ', ' + head.tool + ', ' +
    head.gpus.map(gpu => 'gpu' + gpu.gpu + ' ' + (gpu.chip ?? '')).join(', ') + ', ' + time(last);
  if (!summary) document.getElementById('cut').textContent = 'This recording was cut off: its end is missing.';
  if (summary) {
    const table = document.getElementById('table');
    const line = (cells, kind) => {
      const tr = table.insertRow();
      for (const cell of cells) tr.appendChild(document.createElement(kind)).textContent = cell ?? '';
    };
    const us = value => value === null ? '' : time(value * 1e3);
    line(['GPU', 'engine', 'who', 'share', 'turns', 'shortest', 'median', '99 %', 'away (median)', 'timeslice'], 'th');
    for (const engine of summary.engines) for (const one of engine.holders)
      line([engine.gpu, engine.engine, one.name, (one.share_percent ?? 0).toFixed(2) + ' %', one.turns, us(one.slice_min_us),
        us(one.slice_median_us), us(one.slice_p99_us), us(one.away_median_us), one.timeslice_us.map(us).join(', ')], 'td');
  }
  draw();
});
</script>
<script id="lines" type="application/x-ndjson">
)html";

} // namespace nvdebugctl

#endif
