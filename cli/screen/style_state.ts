/**
 * The style of text at a position: SGR attributes and a link.
 *
 * @module
 */

/** Attributes by the SGR parameter that sets them, with the group of attributes that replace each other. */
const GROUPS: readonly (readonly [first: number, last: number, group: number])[] = [
  [1, 2, 22],
  [3, 3, 23],
  [4, 4, 24],
  [5, 6, 25],
  [7, 7, 27],
  [8, 8, 28],
  [9, 9, 29],
  [21, 21, 24],
  [30, 38, 39],
  [40, 48, 49],
  [53, 53, 55],
  [58, 58, 59],
  [90, 97, 39],
  [100, 107, 49],
];

/** Parameters that end a group of attributes: 22 for bold and faint. */
const ENDS: ReadonlySet<number> = new Set(GROUPS.map(([, , group]) => group));

/** Matches an attribute of an SGR sequence and the semicolon before it. Colors have parameters of their own. */
const ATTRIBUTE = /;([345]8;5;\d*|[345]8;2;\d*;\d*;\d*|[\d:]*)/g;

const LINK_END = "\x1b]8;;\x1b\\";

/** Follows SGR sequences and links in a text, to interrupt a style and to continue it. */
export class StyleState {
  /** Attributes by the parameter that ends them. */
  readonly #attributes = new Map<string, string>();
  #link = "";

  /** Applies an SGR sequence or a link (OSC 8); other sequences are ignored. */
  apply(sequence: string): void {
    if (sequence.startsWith("\x1b]8;")) {
      const target = sequence.slice(sequence.indexOf(";", 4) + 1);
      this.#link = target === "\x07" || target === "\x1b\\" ? "" : sequence;
    } else if (sequence.startsWith("\x1b[")) {
      const parameters = `;${sequence.slice(2, -1)}`;
      for (const [, attribute = ""] of parameters.matchAll(ATTRIBUTE)) {
        this.#applyAttribute(attribute);
      }
    }
  }

  /** The sequences that start the style. */
  get start(): string {
    const attributes = [...this.#attributes.values()];
    return (attributes.length === 0 ? "" : `\x1b[${attributes.join(";")}m`) + this.#link;
  }

  /** The sequences that end the style. */
  get end(): string {
    return (this.#attributes.size === 0 ? "" : "\x1b[m") + (this.#link === "" ? "" : LINK_END);
  }

  #applyAttribute(attribute: string): void {
    const number = Number.parseInt(attribute, 10) || 0;
    if (number === 0) this.#attributes.clear();
    else if (ENDS.has(number) || attribute === "4:0") {
      for (const key of this.#attributes.keys()) {
        if (key.startsWith(`${attribute === "4:0" ? 24 : number} `)) this.#attributes.delete(key);
      }
    } else this.#setAttribute(number, attribute);
  }

  #setAttribute(number: number, attribute: string): void {
    const group = GROUPS.find(([first, last]) => number >= first && number <= last)?.[2];
    if (group === undefined) return;
    // Bold and faint can be set together, and so can both kinds of underline.
    const isCombined = group === 22;
    this.#attributes.set(isCombined ? `${group} ${number}` : `${group} `, attribute);
  }
}
