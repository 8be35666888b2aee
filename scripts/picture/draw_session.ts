/**
 * Draws the rows of a terminal as a picture in SVG.
 *
 * @module
 */

import type { StyledRun, TerminalColor } from "../../tests/cli/terminal_emulator.ts";
import type { RecordedSession } from "./record_session.ts";

const FONT_SIZE = 14;
/** Width of a character of the usual monospaced fonts. */
const CELL_WIDTH = FONT_SIZE * 0.6;
const ROW_HEIGHT = 19;
const PADDING = 18;
const TITLE_HEIGHT = 34;

const FOREGROUND = "#d8dee9";
const BACKGROUND = "#161b22";
const TITLE_BACKGROUND = "#21262d";

/** The 16 colors of a terminal that a program selects by number. */
const PALETTE = [
  "#484f58",
  "#ff7b72",
  "#3fb950",
  "#d29922",
  "#58a6ff",
  "#bc8cff",
  "#39c5cf",
  "#b1bac4",
  "#6e7681",
  "#ffa198",
  "#56d364",
  "#e3b341",
  "#79c0ff",
  "#d2a8ff",
  "#56d4dd",
  "#f0f6fc",
] as const;

/** Steps of red, green and blue in colors 16 to 231. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** Draws a session. `title` describes it for those who cannot see it. */
export function drawSession({ columns, rows }: RecordedSession, title: string): string {
  const width = Math.ceil(columns * CELL_WIDTH) + 2 * PADDING;
  const height = TITLE_HEIGHT + rows.length * ROW_HEIGHT + 2 * PADDING;
  const lines = rows.flatMap((runs, row) => runs.map((run) => drawRun(run, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escape(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
<path d="M0 ${TITLE_HEIGHT}V8a8 8 0 0 1 8-8H${
    width - 8
  }a8 8 0 0 1 8 8V${TITLE_HEIGHT}z" fill="${TITLE_BACKGROUND}"/>
${["#ff5f57", "#febc2e", "#28c840"].map(drawButton).join("\n")}
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${FONT_SIZE}" fill="${FOREGROUND}" style="white-space:pre">
${lines.join("\n")}
</g>
</svg>
`;
}

function drawButton(color: string, index: number): string {
  return `<circle cx="${PADDING + index * 20}" cy="${TITLE_HEIGHT / 2}" r="6" fill="${color}"/>`;
}

function drawRun(run: StyledRun, row: number): string {
  const top = TITLE_HEIGHT + PADDING + row * ROW_HEIGHT;
  return `${drawBackground(run, top)}${drawText(run, top + FONT_SIZE)}`;
}

function drawBackground({ column, width, background }: StyledRun, top: number): string {
  if (background === undefined) return "";
  const left = PADDING + column * CELL_WIDTH;
  return `<rect x="${format(left)}" y="${top}" width="${format(width * CELL_WIDTH)}" ` +
    `height="${ROW_HEIGHT}" fill="${toHex(background)}"/>`;
}

/** Draws the text without the blanks around it, which viewers of pictures treat differently. */
function drawText({ text, column, width, color, ...style }: StyledRun, baseline: number): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const indent = text.length - text.trimStart().length;
  const columns = width - (text.length - trimmed.length);
  const attributes = [
    `x="${format(PADDING + (column + indent) * CELL_WIDTH)}" y="${baseline}"`,
    // Fonts differ in the width of their characters; the columns do not.
    `textLength="${format(columns * CELL_WIDTH)}" lengthAdjust="spacingAndGlyphs"`,
    ...(color === undefined ? [] : [`fill="${toHex(color)}"`]),
    ...(style.isBold ? ['font-weight="bold"'] : []),
    ...(style.isItalic ? ['font-style="italic"'] : []),
    ...(style.isUnderlined ? ['text-decoration="underline"'] : []),
    ...(style.isFaint ? ['opacity="0.65"'] : []),
  ];
  return `<text ${attributes.join(" ")}>${escape(trimmed)}</text>`;
}

function toHex(color: TerminalColor): string {
  if (typeof color === "string") return color;
  const named = PALETTE[color];
  if (named !== undefined) return named;
  const levels = color >= 232
    ? [0, 0, 0].map(() => 8 + (color - 232) * 10)
    : [36, 6, 1].map((unit) => CUBE[Math.floor((color - 16) / unit) % 6] ?? 0);
  return `#${levels.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the text of a picture, one line for each row that has some. */
export function readPicture(svg: string): string {
  const rows = new Map<number, string[]>();
  for (const [, row, text = ""] of svg.matchAll(/<text x="[^"]*" y="(\d+)"[^>]*>([^<]*)</g)) {
    rows.set(Number(row), [...rows.get(Number(row)) ?? [], text]);
  }
  return Array.from(rows.values(), (texts) => texts.join(" ")).join("\n");
}

function format(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
