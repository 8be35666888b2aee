/**
 * Detection of the places where text of a paragraph can be divided, while the paragraph arrives.
 *
 * @module
 */

import { endsInAddress } from "./link_policy.ts";

/** A run of equal delimiters. */
interface DelimiterRun {
  readonly character: string;
  /** The character before the run; a space at the beginning. */
  readonly before: string;
  length: number;
}

/** Delimiters that may open emphasis. */
interface Opener {
  readonly character: string;
  count: number;
}

/** Delimiters of emphasis and code. */
const DELIMITERS = "*_~`";

const SPACE = /\s/;
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** Characters of scripts without spaces, between which text can be divided: they neither combine nor are markup. */
const IDEOGRAPH = /[\u3001-\u3029\u3041-\u3096\u30a0-\u30ff\u3400-\u9fff\uff01-\uff60]/;

/**
 * Reads text character by character and reports after each where the text so far can be divided: where no code, emphasis
 * or link is open that a later character could end.
 *
 * Follows the rules of CommonMark for delimiter runs. Where it deviates, as from the rule about sums of lengths that are
 * multiples of three, the text is divided too early, and a delimiter is shown instead of emphasis.
 */
export class InlineScanner {
  #run: DelimiterRun | undefined;
  /** Length of the run of backticks that opened code; 0 outside of code. */
  #codeLength = 0;
  #openers: Opener[] = [];
  /** Number of open brackets. */
  #brackets = 0;
  /** Number of open parentheses in the address of a link; 0 outside of addresses. */
  #parentheses = 0;
  #isEscaped = false;
  #last = " ";
  /** The text since the last space or division. */
  #word = "";

  /** Reads a character, or half of one. Returns whether the text can be divided behind it, before it, or at neither place. */
  read(character: string): "behind" | "before" | undefined {
    const isBetweenIdeographs = IDEOGRAPH.test(character) && IDEOGRAPH.test(this.#last);
    this.#word += character;
    if (this.#run?.character === character && !this.#isEscaped) this.#run.length++;
    else {
      this.#endRun(character);
      this.#readOther(character);
    }
    this.#last = character;
    const isSpace = SPACE.test(character);
    if (isSpace) this.#word = "";
    if (this.#isOpen()) return undefined;
    if (isSpace) return "behind";
    if (!isBetweenIdeographs || endsInAddress(this.#word)) return undefined;
    this.#word = character;
    return "before";
  }

  /** Returns the delimiters that would end what is open, to show it before they arrive. */
  complete(): string {
    const copy = new InlineScanner();
    copy.#run = this.#run && { ...this.#run };
    copy.#codeLength = this.#codeLength;
    copy.#openers = this.#openers.map((opener) => ({ ...opener }));
    copy.#endRun(" ");
    const code = "`".repeat(copy.#codeLength);
    const ends = copy.#openers.reverse().map(({ character, count }) => character.repeat(count));
    return code + ends.join("");
  }

  #isOpen(): boolean {
    return this.#codeLength > 0 || this.#brackets > 0 || this.#parentheses > 0 ||
      this.#openers.length > 0 || this.#run !== undefined;
  }

  #readOther(character: string): void {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return;
    }
    if (DELIMITERS.includes(character)) {
      this.#run = { character, before: this.#last, length: 1 };
      return;
    }
    if (this.#codeLength > 0) return;
    if (character === "\\") this.#isEscaped = true;
    else this.#readLink(character);
  }

  #readLink(character: string): void {
    if (this.#parentheses > 0) {
      if (character === "(") this.#parentheses++;
      else if (character === ")") this.#parentheses--;
    } else if (character === "[") this.#brackets++;
    else if (character === "]") this.#brackets = Math.max(this.#brackets - 1, 0);
    else if (character === "(" && this.#last === "]") this.#parentheses = 1;
  }

  #endRun(after: string): void {
    const run = this.#run;
    this.#run = undefined;
    if (!run) return;
    if (run.character === "`") {
      if (this.#codeLength === 0) this.#codeLength = run.length;
      else if (this.#codeLength === run.length) this.#codeLength = 0;
    } else if (this.#codeLength === 0) this.#readEmphasis(run, after);
  }

  #readEmphasis({ character, before, length }: DelimiterRun, after: string): void {
    // A single tilde is text.
    if (character === "~" && length === 1) return;
    const { canOpen, canClose } = classifyRun(character, { before, after });
    let count = length;
    while (canClose && count > 0) {
      const index = this.#openers.findLastIndex((opener) => opener.character === character);
      const opener = this.#openers[index];
      if (!opener) break;
      this.#openers.length = index + 1;
      const closed = Math.min(opener.count, count);
      opener.count -= closed;
      count -= closed;
      if (opener.count === 0) this.#openers.length = index;
    }
    if (canOpen && count > 0) this.#openers.push({ character, count });
  }
}

/** Whether a delimiter run can open and close emphasis, by the characters around it (CommonMark 6.2). */
function classifyRun(
  character: string,
  { before, after }: { readonly before: string; readonly after: string },
): { readonly canOpen: boolean; readonly canClose: boolean } {
  const isLeft = !SPACE.test(after) &&
    (!PUNCTUATION.test(after) || SPACE.test(before) || PUNCTUATION.test(before));
  const isRight = !SPACE.test(before) &&
    (!PUNCTUATION.test(before) || SPACE.test(after) || PUNCTUATION.test(after));
  if (character !== "_") return { canOpen: isLeft, canClose: isRight };
  return {
    canOpen: isLeft && (!isRight || PUNCTUATION.test(before)),
    canClose: isRight && (!isLeft || PUNCTUATION.test(after)),
  };
}
