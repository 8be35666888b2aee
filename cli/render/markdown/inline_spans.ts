/**
 * Rendering of inline Markdown: emphasis, code, links, entities.
 *
 * @module
 */

import MarkdownIt, { type Token } from "markdown-it/browser";
import { formatCodePoint } from "../code_point.ts";
import { appendSpan } from "../line/append_span.ts";
import type { Span, SpanStyle } from "../line/line.ts";
import type { Display } from "../theme/display.ts";
import { getLinkTarget, showsTarget, splitAddresses } from "./link_policy.ts";

/** Options for `renderInline()`. */
export interface InlineOptions {
  /** How the output shows lines; without colors, emphasis and code keep their marks. */
  readonly display: Display;
  /** Style of the text. */
  readonly style?: SpanStyle | undefined;
}

/** Matches text that may contain markup. */
const MARKUP = /[\\`*_~[\]<&!]|https?:/i;

/** Matches a line break in HTML, which models write in cells of tables. */
const HTML_BREAK = /<br\s*\/?>/gi;

/** Matches characters that entities can encode and terminals interpret. */
const DECODED_CONTROL =
  // deno-lint-ignore no-control-regex -- matches control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

let parser: InstanceType<typeof MarkdownIt> | undefined;

function getParser(): InstanceType<typeof MarkdownIt> {
  if (parser) return parser;
  parser = new MarkdownIt({ html: false });
  // The policy of this module decides which addresses become links.
  parser.validateLink = () => true;
  return parser;
}

/** Renders inline Markdown as spans; a line feed in a span is a line break of the source. */
export function renderInline(source: string, { display, style = {} }: InlineOptions): Span[] {
  if (!MARKUP.test(source)) return source === "" ? [] : [{ ...style, text: source }];
  const [root] = getParser().parseInline(source, {});
  const renderer = new InlineRenderer({ display, style });
  for (const token of root?.children ?? []) renderer.add(token);
  return renderer.spans;
}

/** Collects the spans of tokens. */
class InlineRenderer {
  readonly #display: Display;
  readonly #styles: SpanStyle[];
  /** Address and text of the open link. */
  #link: { readonly address: string; text: string } | undefined;
  readonly spans: Span[] = [];

  constructor({ display, style }: { readonly display: Display; readonly style: SpanStyle }) {
    this.#display = display;
    this.#styles = [style];
  }

  add(token: Token): void {
    switch (token.type) {
      case "text":
      case "text_special":
        return this.#addText(token.content);
      case "softbreak":
      case "hardbreak":
        return this.#append("\n");
      case "code_inline":
        return this.#addCode(token.content);
      case "strong_open":
        return this.#open("**", { bold: true });
      case "strong_close":
        return this.#close("**");
      case "em_open":
        return this.#open("*", { italic: true });
      case "em_close":
        return this.#close("*");
      case "s_open":
        return this.#open("~~", { strike: true });
      case "s_close":
        return this.#close("~~");
      case "link_open":
        return this.#openLink(String(token.attrGet("href") ?? ""));
      case "link_close":
        return this.#closeLink();
      case "image":
        return this.#addImage(token);
      default:
        return this.#addText(token.content);
    }
  }

  get #style(): SpanStyle {
    return this.#styles.at(-1) ?? {};
  }

  #open(mark: string, style: SpanStyle): void {
    this.#addMark(mark);
    this.#styles.push({ ...this.#style, ...style });
  }

  #close(mark: string): void {
    if (this.#styles.length > 1) this.#styles.pop();
    this.#addMark(mark);
  }

  /** Adds a mark of the source that colors replace. */
  #addMark(mark: string): void {
    if (mark !== "" && this.#display.colors === "none") this.#append(mark);
  }

  #append(text: string, style: SpanStyle = {}): void {
    if (this.#link) this.#link.text += text;
    appendSpan(this.spans, { ...this.#style, ...style, text });
  }

  #addText(content: string): void {
    const text = content.replace(DECODED_CONTROL, formatCodePoint).replace(HTML_BREAK, "\n");
    if (this.#link) return this.#append(text);
    for (const { text: part, target } of splitAddresses(text)) {
      this.#append(part, target === undefined ? {} : { role: "link", link: target });
    }
  }

  #addCode(content: string): void {
    this.#addMark("`");
    this.#append(content.replaceAll("\n", " "), { role: "code" });
    this.#addMark("`");
  }

  #openLink(address: string): void {
    this.#link = { address, text: "" };
    const target = getLinkTarget(address);
    this.#open("", target === undefined ? {} : { role: "link", link: target });
  }

  #closeLink(): void {
    this.#close("");
    const link = this.#link;
    this.#link = undefined;
    if (link) this.#addAddress(link.address, link.text);
  }

  /** Adds the address behind the text of a link, where the text does not show it. */
  #addAddress(address: string, text: string): void {
    const target = getLinkTarget(address);
    const hasLinks = this.#display.hasLinks && target !== undefined;
    if (address === "" || showsTarget(text, { target: target ?? address, hasLinks })) return;
    const visible = (target ?? address).replace(DECODED_CONTROL, formatCodePoint);
    this.#append(text === "" ? visible : ` (${visible})`, {
      role: "faint",
      ...(target && { link: target }),
    });
  }

  #addImage(token: Token): void {
    const address = String(token.attrGet("src") ?? "");
    const alternative = (token.content || address).replace(DECODED_CONTROL, formatCodePoint);
    this.#append(`image: ${alternative}`, { role: "faint" });
    this.#addAddress(address, alternative);
  }
}
