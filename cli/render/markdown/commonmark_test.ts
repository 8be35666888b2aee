import { assert, assertEquals } from "@std/assert";
import specification from "commonmark-spec";
import type { Display } from "../theme/display.ts";
import { UNICODE_SYMBOLS } from "../theme/get_display.ts";
import { THEMES } from "../theme/themes.ts";
import { MarkdownRenderer } from "./markdown_renderer.ts";

/** An example of the specification. */
interface Example {
  readonly section: string;
  readonly number: number;
  readonly markdown: string;
  readonly html: string;
}

/** The specification writes tabs as arrows. */
const examples: readonly Example[] = specification.tests.map((example: Example) => ({
  ...example,
  markdown: example.markdown.replaceAll("→", "\t"),
  html: example.html.replaceAll("→", "\t"),
}));

const display: Display = {
  theme: THEMES.dark,
  colors: "basic",
  hasLinks: true,
  symbols: UNICODE_SYMBOLS,
  isPlain: false,
};

/** Sections about what is shown as text: HTML, images, and links that refer to definitions. */
const TEXT_SECTIONS = ["HTML blocks", "Raw HTML", "Link reference definitions", "Images"];

/** Matches HTML in Markdown, images and definitions, which are shown as text too. */
const SHOWN_AS_TEXT = /<(?:[a-z]+(?:[\s/][^>]*)?|\/[a-z]+|!-.*|\?.*)>|!\[|\]:/is;

/** Examples that are rendered otherwise, by their number, with the reason. */
const EXCEPTIONS: Readonly<Record<number, string>> = {
  81: "the first line of two is written before the underline arrives",
  82: "the first line of two is written before the underline arrives",
  137: "a closing fence may have any indentation",
  313: "an item is no code, however far it is indented",
  484: "a link without text shows its address",
};

/** Returns the text of HTML without spaces. */
function getText(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll(/\s+/g, "");
}

/** Renders an example; returns its text without spaces, marks and addresses. */
function renderText(markdown: string): string {
  const renderer = new MarkdownRenderer({ getColumns: () => 500, display, now: () => 0 });
  const spans = [...renderer.push(markdown), ...renderer.end()].flat();
  const isAddress = (text: string) => /^ ?\(/.test(text);
  return spans.filter(({ role, text }) => role !== "mark" && !(role === "faint" && isAddress(text)))
    .map(({ text }) => text).join("").replaceAll(/\s+/g, "");
}

Deno.test("MarkdownRenderer: shows the text of the examples of CommonMark", () => {
  const compared = examples.filter(({ section, markdown, number }) =>
    !TEXT_SECTIONS.includes(section) && !SHOWN_AS_TEXT.test(markdown) && !(number in EXCEPTIONS)
  );
  assert(compared.length > 450, String(compared.length));
  const different = compared.filter(({ markdown, html }) => renderText(markdown) !== getText(html))
    .map(({ number, markdown, html }) => ({
      number,
      markdown,
      rendered: renderText(markdown),
      expected: getText(html),
    }));
  assertEquals(different, []);
});
