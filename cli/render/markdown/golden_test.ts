import { assertEquals } from "@std/assert";
import { createModeHighlighter } from "../highlight/mode_highlighter.ts";
import { createEncoder } from "../line/encode_line.ts";
import type { Line } from "../line/line.ts";
import type { Display } from "../theme/display.ts";
import { ASCII_SYMBOLS, UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { MarkdownRenderer } from "./markdown_renderer.ts";

/** End of the names of sources, which the formatter leaves unchanged. */
const SOURCE = ".source.txt";

const directory = new URL("./testdata/", import.meta.url);
const highlighter = createModeHighlighter({ now: () => 0 });

const styled: Display = {
  theme: THEMES.dark,
  colors: "basic",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

const plain: Display = {
  ...styled,
  colors: "none",
  hasLinks: false,
  symbols: ASCII_SYMBOLS,
  isPlain: true,
};

function render(text: string, columns: number, display: Display): Line[] {
  const renderer = new MarkdownRenderer({
    getColumns: () => columns,
    display,
    now: () => 0,
    highlighter,
  });
  return [...renderer.push(text), ...renderer.end()];
}

/** Shows the styles of a line as `{heading bold:text}`, and links as `{link=address:text}`. */
function showStyles(line: Line): string {
  return line.map(({ text, ...style }) => {
    const names = Object.entries(style).filter(([, value]) => value).map(([key, value]) =>
      key === "role" ? String(value) : value === true ? key : `${key}=${value}`
    );
    return names.length === 0 ? text : `{${names.join(" ")}:${text}}`;
  }).join("");
}

/** Shows a text at several widths without colors, and at one width with its styles. */
function createTranscript(text: string): string {
  const encode = createEncoder(plain);
  const sections = [40, 60, 80, 120].map((columns) =>
    [`=== ${columns} columns, plain`, ...render(text, columns, plain).map(encode)].join("\n")
  );
  const lines = render(text, 60, styled).map(showStyles);
  return [...sections, ["=== 60 columns, styled", ...lines].join("\n")].join("\n\n") + "\n";
}

for (const { name } of [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  if (!name.endsWith(SOURCE)) continue;
  const element = name.slice(0, -SOURCE.length);
  Deno.test(`MarkdownRenderer: renders ${element} as in testdata/${element}.lines.txt`, async () => {
    const transcript = createTranscript(await Deno.readTextFile(new URL(name, directory)));
    const file = new URL(`${element}.lines.txt`, directory);
    if (Deno.args.includes("--update")) await Deno.writeTextFile(file, transcript);
    assertEquals(transcript, await Deno.readTextFile(file));
  });
}
