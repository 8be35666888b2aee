/**
 * Measures the rendering of streamed Markdown: 10,000 tokens that arrive at 200 a second, with 30 frames a second.
 *
 * The time is simulated: the ratio is the processor time of all threads divided by the 50 seconds of the stream.
 *
 * @module
 */

import process from "node:process";
import { importLate } from "../cli/host/import_late.ts";
import { createEncoder } from "../cli/render/line/encode_line.ts";
import { addStreamingMark } from "../cli/render/line/streaming_mark.ts";
import type { MarkdownRenderer as Renderer } from "../cli/render/markdown/markdown_renderer.ts";
import { getDisplay } from "../cli/render/theme/get_display.ts";
import { printReport, type Row } from "./report.ts";

const TOKENS = 10_000;
const TOKENS_PER_SECOND = 200;
const FRAMES_PER_SECOND = 30;
const TOKEN_CHARACTERS = 4;
const COLUMNS = 80;

/** Share of a processor that rendering may take. */
const TARGET = 0.1;

const display = getDisplay(
  { isTerminal: true },
  (name) => name === "FORCE_COLOR" ? "3" : undefined,
);
const encode = createEncoder(display);

const PROSE = `## Results

The parser keeps **its position** between calls, so that a chunk may end *anywhere*: in a word, in a \`character\`, or in
the middle of a [link](https://example.org/docs). It holds at most 1,000 characters of open markup.

1. First, read the file \`src/parser.ts\` and find the function that splits lines.
   - It is called for every chunk.
   - It must not copy the rest of the text.
2. Then run the tests.

`;

const CODE = `Here is the change:

\`\`\`ts
export function splitLines(text: string, { keepEnds = false }: Options = {}): string[] {
  // Lines end with a line feed, or with both characters.
  const lines = text.split(/\\r?\\n/);
  return keepEnds ? lines.map((line) => line + end) : lines;
}
\`\`\`

`;

const TABLE_ROWS = Array.from(
  { length: 12 },
  (_, index) =>
    `| \`option_${index}\` | ${index * 100} | **Limits** the attempts before a run fails |`,
);

const TABLE = `| Name | Default | Description |
|------|--------:|-------------|
${TABLE_ROWS.join("\n")}

`;

const CHINESE =
  "解析器在两次调用之间保持其位置，因此数据块可以在任何地方结束：在单词中、在字符中或在**分隔符**的中间。\n\n";

function repeatTo(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

/** Returns the processor time of the process in milliseconds. */
function readProcessTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Streams a text; returns the processor time per second of the stream. */
function measureStream(renderer: Renderer, text: string): number {
  const tokensPerFrame = TOKENS_PER_SECOND / FRAMES_PER_SECOND;
  const start = readProcessTime();
  let written = 0;
  let frames = 0;
  for (let token = 0; token < TOKENS; token++) {
    const chunk = text.slice(token * TOKEN_CHARACTERS, (token + 1) * TOKEN_CHARACTERS);
    for (const line of renderer.push(chunk)) written += encode(line).length;
    if (token < frames * tokensPerFrame) continue;
    frames++;
    const now = token / TOKENS_PER_SECOND * 1_000;
    for (const line of renderer.poll()) written += encode(line).length;
    const open = addStreamingMark(renderer.open, { display, columns: COLUMNS, now });
    for (const line of open) written += encode(line).length;
  }
  for (const line of renderer.end()) written += encode(line).length;
  if (written < text.length / 2) throw new Error(`Only ${written} characters were written.`);
  return (readProcessTime() - start) / (TOKENS / TOKENS_PER_SECOND * 1_000);
}

/** Loads a module as the program does; returns it with the processor time. */
async function load<Module>(path: string): Promise<readonly [module: Module, time: string]> {
  const start = readProcessTime();
  const module = await importLate<Module>(path, import.meta.url);
  return [module, `${(readProcessTime() - start).toFixed(1)} ms`];
}

async function benchmark(): Promise<Row[]> {
  const [{ MarkdownRenderer }, rendererTime] = await load<
    typeof import("../cli/render/markdown/markdown_renderer.ts")
  >("../cli/render/markdown/markdown_renderer.ts");
  const [{ createModeHighlighter }, highlighterTime] = await load<
    typeof import("../cli/render/highlight/mode_highlighter.ts")
  >("../cli/render/highlight/mode_highlighter.ts");
  const highlighter = createModeHighlighter({ now: () => performance.now() });
  const texts = { prose: PROSE, code: CODE, tables: TABLE, Chinese: CHINESE };
  const rows = Object.entries(texts).map(([name, text]): Row => {
    const renderer = new MarkdownRenderer({
      getColumns: () => COLUMNS,
      display,
      now: () => 0,
      highlighter,
    });
    const share = measureStream(renderer, repeatTo(text, TOKENS * TOKEN_CHARACTERS));
    const percent = `${(share * 100).toFixed(2)} % of a core`;
    return [`10,000 tokens at 200/s, ${name}`, percent, share.toFixed(4), `<= ${TARGET}`];
  });
  return [
    ["load the renderer", rendererTime, "", "< 20 ms"],
    ["load the highlighter", highlighterTime, "", ""],
    ...rows,
  ];
}

printReport("Markdown", await benchmark());
