/**
 * Converts HTML to text that keeps headings, paragraphs, lists, links and code. One pass in linear time, so that no page
 * can make it slow.
 *
 * @module
 */

/** Elements that are dropped with their content. */
const DROPPED_ELEMENTS: ReadonlySet<string> = new Set(
  ["script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "form", "select"],
);

const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  ("p div section article main header aside ul ol dl dt dd table tr blockquote figure h1 h2 h3 h4 h5 h6 pre hr br " +
    "li title").split(" "),
);

/** Common named entities; numeric ones are computed. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  copy: "©",
  reg: "®",
  trade: "™",
  middot: "·",
  bull: "•",
  times: "×",
  larr: "←",
  rarr: "→",
  laquo: "«",
  raquo: "»",
};

/** Converts a page to Markdown-like text. Links are resolved against `address`. */
export function htmlToText(html: string, address: string): string {
  const writer = new TextWriter(address);
  const lowerCaseHtml = html.toLowerCase();
  let index = 0;
  while (index < html.length) {
    const open = html.indexOf("<", index);
    writer.writeText(html.slice(index, open === -1 ? undefined : open));
    if (open === -1) break;
    index = readMarkup({ html, lowerCaseHtml, open }, writer);
  }
  return writer.finish();
}

interface MarkupPosition {
  readonly html: string;
  readonly lowerCaseHtml: string;
  readonly open: number;
}

/** Reads a tag or comment that begins at `open`; returns the index after it. */
function readMarkup(
  { html, lowerCaseHtml, open }: MarkupPosition,
  writer: TextWriter,
): number {
  if (html.startsWith("<!--", open)) return indexAfter(html, "-->", open + 4);
  const name = /^<(\/?)([a-z][a-z0-9]*)/.exec(lowerCaseHtml.slice(open, open + 20));
  if (!name) {
    if (/^<[!?]/.test(html.slice(open, open + 2))) return indexAfter(html, ">", open);
    writer.writeText("<");
    return open + 1;
  }
  const [, slash, tag = ""] = name;
  const end = findTagEnd(html, open);
  if (slash) writer.closeTag(tag);
  else if (DROPPED_ELEMENTS.has(tag)) {
    return indexAfter(html, ">", indexOrEnd(lowerCaseHtml, `</${tag}`, end));
  } else writer.openTag(tag, html.slice(open, end));
  return end;
}

/** Returns the index after a tag. A `>` in a quoted attribute does not end it. */
function findTagEnd(html: string, open: number): number {
  const tag = /[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>/y;
  tag.lastIndex = open;
  // Without an end within this length, a quote is unclosed: the next `>` ends the tag.
  const match = tag.exec(html.slice(0, open + MAX_TAG_LENGTH));
  return match ? tag.lastIndex : indexAfter(html, ">", open);
}

const MAX_TAG_LENGTH = 10_000;

function indexAfter(text: string, search: string, from: number): number {
  return Math.min(indexOrEnd(text, search, from) + search.length, text.length);
}

function indexOrEnd(text: string, search: string, from: number): number {
  const index = text.indexOf(search, from);
  return index === -1 ? text.length : index;
}

/** Collects text and collapses whitespace as browsers do. */
class TextWriter {
  readonly #baseUrl: string;
  readonly #parts: string[] = [];
  #link: { readonly partIndex: number; readonly target: string | undefined } | undefined;
  #preDepth = 0;

  constructor(address: string) {
    this.#baseUrl = address;
  }

  writeText(raw: string): void {
    const text = decodeEntities(raw);
    if (this.#preDepth > 0) {
      this.#append(text);
      return;
    }
    const collapsed = text.replace(/\s+/g, " ");
    const followsSpace = /(?:^|[\n ])$/.test(this.#parts.at(-1) ?? "");
    this.#append(followsSpace ? collapsed.trimStart() : collapsed);
  }

  #append(text: string): void {
    if (text !== "") this.#parts.push(text);
  }

  openTag(tag: string, source: string): void {
    if (tag === "a") {
      // Links do not nest: another one ends the link before it.
      this.#closeLink();
      this.#link = { partIndex: this.#parts.length, target: this.#resolveTarget(source) };
    }
    if (tag === "td" || tag === "th") this.#parts.push(" | ");
    if (!BLOCK_ELEMENTS.has(tag)) return;
    this.#parts.push(tag === "br" || tag === "li" ? "\n" : "\n\n");
    if (tag === "li") this.#parts.push("- ");
    if (/^h[1-6]$/.test(tag)) this.#parts.push(`${"#".repeat(Number(tag[1]))} `);
    if (tag === "title") this.#parts.push("# ");
    if (tag === "pre" && ++this.#preDepth === 1) this.#parts.push("```\n");
  }

  closeTag(tag: string): void {
    if (tag === "a") this.#closeLink();
    if (tag === "pre" && this.#preDepth > 0 && --this.#preDepth === 0) this.#parts.push("\n```");
    if (BLOCK_ELEMENTS.has(tag) && tag !== "li") this.#parts.push("\n\n");
  }

  finish(): string {
    return this.#parts.join("")
      .replace(/(?<! ) +\n/g, "\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (!link?.target) return;
    const text = this.#parts.splice(link.partIndex).join("").trim();
    // Markdown has no links around several lines.
    this.#parts.push(
      text.includes("\n") ? `${text}\n(${link.target})` : `[${text || "link"}](${link.target})`,
    );
  }

  #resolveTarget(source: string): string | undefined {
    const match = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(
      source.slice(0, MAX_TAG_LENGTH),
    );
    const target = decodeEntities(match?.[1] ?? match?.[2] ?? match?.[3] ?? "#");
    if (target.startsWith("#") || !URL.canParse(target, this.#baseUrl)) return undefined;
    const url = new URL(target, this.#baseUrl);
    return /^https?:$/.test(url.protocol) ? url.href : undefined;
  }
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,10}));/gi,
    (entity, hex, decimal, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}
