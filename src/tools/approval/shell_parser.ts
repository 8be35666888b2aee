/**
 * Parses shell commands as far as needed to find the programs they run: lists, pipes, subshells, substitutions and
 * here-documents. Anything ambiguous makes the result `opaque`.
 *
 * @module
 */

/** A word of a command. */
export interface ShellWord {
  /** The word without quotes; expansions are kept as written. */
  readonly text: string;
  /** Whether the word has no variable, substitution or tilde. */
  readonly literal: boolean;
  /** Whether the shell replaces the word by matching file names. */
  readonly isGlob: boolean;
}

/** A redirection. */
export interface ShellRedirect {
  /** The operator, without the number of the file descriptor. */
  readonly operator: string;
  /** The target; `undefined` for a here-document. */
  readonly target: ShellWord | undefined;
}

/** A simple command: assignments, words and redirections. */
export interface SimpleCommand {
  /** Assignments before the command, as written. */
  readonly assignments: readonly string[];
  /** Program and arguments. */
  readonly words: readonly ShellWord[];
  /** Redirections. */
  readonly redirects: readonly ShellRedirect[];
}

/** All commands of a script, including those in substitutions and subshells, as a flat list. */
export interface ParsedScript {
  /** The commands in source order. */
  readonly commands: readonly SimpleCommand[];
  /** Whether a part of the script is ambiguous. */
  readonly opaque: boolean;
}

/** Parses a script. */
export function parseShell(source: string): ParsedScript {
  const parser = new ShellParser(source);
  parser.parse();
  return { commands: parser.commands, opaque: parser.opaque };
}

/** Keywords before and between commands, which are skipped. */
const KEYWORDS: ReadonlySet<string> = new Set([
  "if",
  "then",
  "elif",
  "else",
  "while",
  "until",
  "do",
  "!",
  "{",
  "}",
  "time",
  "fi",
  "done",
  "esac",
]);

/** Keywords of constructs that are not parsed. */
const OPAQUE_KEYWORDS: ReadonlySet<string> = new Set([
  "case",
  "function",
  "select",
  "coproc",
  "[[",
]);

const OPERATOR = /^(?:&&|\|\||\|&|;;&|;;|;&|[;|\n()]|&(?!>))/;
const REDIRECT = /^(?:\d+|\{\w+\})?(?:&>>|&>|<<<|<<-|<<|>>|>&|<&|<>|>\||>|<)/;
const BLANK = /^(?:[ \t\r]|\\\n)+/;

/** Maximum nesting depth; anything deeper is opaque. */
const MAX_DEPTH = 20;

interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
}

class ShellParser {
  readonly commands: SimpleCommand[] = [];
  opaque = false;
  readonly #source: string;
  readonly #depth: number;
  #offset = 0;
  #assignments: string[] = [];
  #words: ShellWord[] = [];
  #redirects: ShellRedirect[] = [];
  #hereDocuments: HereDocument[] = [];

  constructor(source: string, depth = 0) {
    this.#source = source;
    this.#depth = depth;
  }

  parse(): void {
    if (this.#depth > MAX_DEPTH) {
      this.opaque = true;
      return;
    }
    while (this.#offset < this.#source.length) this.#parseNext();
    this.#finishCommand();
  }

  #rest(): string {
    return this.#source.slice(this.#offset);
  }

  #parseNext(): void {
    const rest = this.#rest();
    const blank = BLANK.exec(rest);
    if (blank) {
      this.#offset += blank[0].length;
      return;
    }
    if (rest.startsWith("#")) {
      const end = rest.indexOf("\n");
      this.#offset += end === -1 ? rest.length : end;
      return;
    }
    const redirect = REDIRECT.exec(rest);
    if (redirect && !/^[<>]\(/.test(rest)) return this.#readRedirect(redirect[0]);
    const operator = OPERATOR.exec(rest);
    if (operator) return this.#readOperator(operator[0]);
    this.#addWord(this.#readWord());
  }

  #readOperator(operator: string): void {
    this.#offset += operator.length;
    // `name() { … }` defines a function.
    if (operator === "(" && this.#words.length > 0) this.opaque = true;
    this.#finishCommand();
    if (operator === "\n") this.#skipHereDocuments();
  }

  #readRedirect(token: string): void {
    this.#offset += token.length;
    const operator = token.replace(/^(?:\d+|\{\w+\})/, "");
    this.#offset += BLANK.exec(this.#rest())?.[0].length ?? 0;
    const start = this.#offset;
    const target = this.#readWord();
    if (operator === "<<" || operator === "<<-") {
      const isQuoted = /['"\\]/.test(this.#source.slice(start, this.#offset));
      this.#hereDocuments.push({ delimiter: target.text, isQuoted });
      this.#redirects.push({ operator, target: undefined });
      return;
    }
    this.#redirects.push({ operator, target });
  }

  /** Skips the bodies of here-documents. An expansion in a body is opaque unless the delimiter is quoted. */
  #skipHereDocuments(): void {
    for (const { delimiter, isQuoted } of this.#hereDocuments) {
      const lines = this.#rest().split("\n");
      const end = lines.findIndex((line) => line.replace(/^\t+/, "") === delimiter);
      const body = lines.slice(0, end === -1 ? lines.length : end).join("\n");
      if (!isQuoted && /[`$]/.test(body)) this.opaque = true;
      this.#offset = Math.min(
        this.#offset + body.length + 1 + delimiter.length + 1,
        this.#source.length,
      );
    }
    this.#hereDocuments = [];
  }

  #addWord(word: ShellWord): void {
    const isFirst = this.#words.length === 0;
    if (isFirst && word.literal && KEYWORDS.has(word.text)) return this.#finishCommand();
    if (isFirst && word.literal && OPAQUE_KEYWORDS.has(word.text)) this.opaque = true;
    if (isFirst && /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(word.text)) {
      this.#assignments.push(word.text);
      return;
    }
    this.#words.push(word);
  }

  #finishCommand(): void {
    const [assignments, words, redirects] = [this.#assignments, this.#words, this.#redirects];
    this.#assignments = [];
    this.#words = [];
    this.#redirects = [];
    // The list of `for x in a b; do` is data; the commands after `do` are parsed on their own.
    if (words[0]?.literal && words[0].text === "for") return;
    if (assignments.length + words.length + redirects.length === 0) return;
    this.commands.push({ assignments, words, redirects });
  }

  #readWord(): ShellWord {
    let text = "";
    let literal = true;
    let isGlob = false;
    const start = this.#offset;
    for (;;) {
      const rest = this.#rest();
      const character = rest[0];
      if (character === undefined || /[\s;|&()<>]/.test(character)) {
        const isSubstitution = /^[<>]\(/.test(rest);
        if (!isSubstitution) break;
        this.#offset += 1;
        this.#parseNested(this.#readBalanced("(", ")"));
        literal = false;
        continue;
      }
      if (character === "\\") {
        if (rest[1] !== "\n") text += rest[1] ?? "";
        this.#offset += 2;
        continue;
      }
      if (character === "'") {
        text += this.#readSingleQuoted();
        continue;
      }
      if (character === '"' || rest.startsWith('$"')) {
        const quoted = this.#readDoubleQuoted();
        text += quoted.text;
        literal &&= quoted.literal;
        continue;
      }
      if (character === "$" || character === "`") {
        text += this.#readExpansion();
        literal = false;
        continue;
      }
      if (character === "~" && this.#offset === start) literal = false;
      if (/[*?[{]/.test(character)) isGlob = true;
      text += character;
      this.#offset += 1;
    }
    // Skip a character that cannot begin a word, so that the parser always advances.
    if (this.#offset === start) this.#offset += 1;
    return { text, literal, isGlob };
  }

  #readSingleQuoted(): string {
    const end = this.#source.indexOf("'", this.#offset + 1);
    if (end === -1) this.opaque = true;
    const text = this.#source.slice(this.#offset + 1, end === -1 ? undefined : end);
    this.#offset = end === -1 ? this.#source.length : end + 1;
    return text;
  }

  #readDoubleQuoted(): { text: string; literal: boolean } {
    let text = "";
    let literal = true;
    this.#offset += this.#source[this.#offset] === "$" ? 2 : 1;
    while (this.#offset < this.#source.length) {
      const character = this.#source.charAt(this.#offset);
      if (character === '"') {
        this.#offset += 1;
        return { text, literal };
      }
      if (character === "\\" && /["$`\\\n]/.test(this.#source.charAt(this.#offset + 1))) {
        text += this.#source.charAt(this.#offset + 1).replace("\n", "");
        this.#offset += 2;
        continue;
      }
      if (character === "$" || character === "`") {
        text += this.#readExpansion();
        literal = false;
        continue;
      }
      text += character;
      this.#offset += 1;
    }
    this.opaque = true;
    return { text, literal };
  }

  /** Reads `$x`, `${x}`, `$(…)`, `$((…))`, `` `…` `` or `$'…'`. */
  #readExpansion(): string {
    const start = this.#offset;
    const rest = this.#rest();
    if (rest.startsWith("$(")) {
      this.#offset += 1;
      this.#parseNested(this.#readBalanced("(", ")"));
    } else if (rest.startsWith("${")) {
      this.#offset += 1;
      const body = this.#readBalanced("{", "}");
      // Defaults and patterns can contain commands.
      if (/[`$]/.test(body)) this.opaque = true;
    } else if (rest.startsWith("$'")) {
      const end = /^\$'(?:\\[\s\S]|[^'\\])*'/.exec(rest);
      if (!end) this.opaque = true;
      this.#offset += end ? end[0].length : rest.length;
    } else if (rest.startsWith("`")) {
      const end = /^`((?:\\[\s\S]|[^`\\])*)`/.exec(rest);
      if (!end) this.opaque = true;
      this.#parseNested((end?.[1] ?? "").replace(/\\([`$\\])/g, "$1"));
      this.#offset += end ? end[0].length : rest.length;
    } else {
      this.#offset += /^\$(?:\w+|[@*#?$!-])?/.exec(rest)?.[0].length ?? 1;
    }
    return this.#source.slice(start, this.#offset);
  }

  /** Reads the text between brackets, with regard to quotes. */
  #readBalanced(open: string, close: string): string {
    const start = this.#offset + 1;
    let depth = 0;
    while (this.#offset < this.#source.length) {
      const character = this.#source.charAt(this.#offset);
      if (character === "\\") this.#offset += 1;
      else if (character === "'") {
        this.#readSingleQuoted();
        continue;
      } else if (character === '"') {
        this.#skipDoubleQuoted();
        continue;
      } else if (character === open) depth++;
      else if (character === close && --depth === 0) {
        this.#offset += 1;
        return this.#source.slice(start, this.#offset - 1);
      }
      this.#offset += 1;
    }
    this.opaque = true;
    return this.#source.slice(start);
  }

  #skipDoubleQuoted(): void {
    const end = /^"(?:\\[\s\S]|[^"\\])*"/.exec(this.#rest());
    if (!end) this.opaque = true;
    this.#offset += end ? end[0].length : this.#rest().length;
  }

  #parseNested(source: string): void {
    const parser = new ShellParser(source, this.#depth + 1);
    parser.parse();
    this.commands.push(...parser.commands);
    this.opaque ||= parser.opaque;
  }
}
