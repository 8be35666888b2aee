/**
 * Random shell commands.
 *
 * @module
 */

const WORDS = [
  ...[
    "ls",
    "cat",
    "echo",
    "sort",
    "git",
    "deno",
    "rm",
    "touch",
    "sed",
    "find",
    "sh",
    "env",
    "xargs",
    "x",
    "f",
  ],
  ...[
    "test",
    "[",
    "]",
    "log",
    "push",
    "status",
    "diff",
    "-o",
    "-n",
    "-c",
    "-la",
    "--output=pwn",
    "--",
    "-C",
    ".",
  ],
  ...[
    "a.txt",
    "pwn",
    "src",
    "HEAD",
    "*",
    "~",
    "{}",
    "1",
    "+",
    "';'",
    "'touch pwn'",
    "'rm a.txt'",
    '"$x"',
    "$x",
  ],
  ...[
    "${x:-pwn}",
    "$(touch pwn)",
    "`rm a.txt`",
    "<(touch pwn)",
    "0<(touch pwn)",
    "{-o,pwn}",
    "$'-o'",
    "$((1+1))",
  ],
];
const NAMES = [
  ...[
    "ls",
    "cat a.txt",
    "echo",
    "sort a.txt",
    "git log",
    "git status",
    "git push",
    "deno test",
    "rm",
    "touch pwn",
  ],
  ...[
    "find .",
    "sed -n 1p",
    "sh -c",
    "env",
    "xargs",
    "eval",
    "command",
    "exec",
    "time",
    "!",
    "trap",
    "x=1",
    "PATH=.",
  ],
];
const BLANKS = [" ", " ", " ", " ", "  ", "\t", "\\\n", "\u00a0", "\r", "\v", "\f"];
const SEPARATORS = [";", "&&", "||", "|", "&", "\n", "|&", " #", ";;", "\\;"];
const REDIRECTS = [
  ...[
    "> pwn",
    "2>&1",
    ">/dev/null",
    "< a.txt",
    ">& pwn",
    "<> pwn",
    "> 1",
    "2>&-",
    "<<< a",
    "<<< $(touch pwn)",
  ],
];
const END_MARKS = ["E", "'E'", '"E"', "$'E'", "\\E", "''"];
const NOISE = [
  "'",
  '"',
  "\\",
  "$",
  "`",
  "(",
  ")",
  "{",
  "}",
  ";",
  "&",
  "|",
  "<",
  ">",
  "\n",
  "#",
  "\r",
  "\u00a0",
  "=",
];

/** Creates random commands. */
export class CommandGrammar {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Creates a command. Some have a character too much or too little. */
  create(): string {
    const script = this.#createList(0);
    if (this.#random() < 0.8) return script;
    const position = Math.floor(this.#random() * script.length);
    const noise = this.#random() < 0.5 ? this.#choose(NOISE) : "";
    return script.slice(0, position) + noise + script.slice(position + (noise === "" ? 1 : 0));
  }

  #createList(depth: number): string {
    let list = this.#createCommand(depth);
    while (this.#random() < 0.35) {
      list += `${this.#choose(SEPARATORS)}${this.#choose(BLANKS)}${this.#createCommand(depth)}`;
    }
    return list;
  }

  #createCommand(depth: number): string {
    const kind = depth > 2 ? 0 : this.#random();
    const inner = () => this.#createList(depth + 1);
    if (kind < 0.7) return this.#createSimpleCommand();
    if (kind < 0.75) return `(${inner()})`;
    if (kind < 0.8) return `{ ${inner()}; }`;
    if (kind < 0.84) return `if ${inner()}; then ${inner()}; fi`;
    if (kind < 0.88) return `f() { ${inner()}; }; f`;
    if (kind < 0.92) return `echo $(${inner()})`;
    if (kind < 0.96) return `sh -c '${inner().replaceAll("'", "")}'`;
    return `for x in a b; do ${inner()}; done`;
  }

  #createSimpleCommand(): string {
    const words = [this.#choose(NAMES)];
    while (this.#random() < 0.55) words.push(this.#choose(WORDS));
    const command = words.reduce((text, word) => `${text}${this.#choose(BLANKS)}${word}`);
    const kind = this.#random();
    if (kind < 0.2) return `${command} ${this.#choose(REDIRECTS)}`;
    if (kind < 0.3) return `${command} ${this.#createDocument()}`;
    return command;
  }

  /** Creates one or two here-documents, and a command behind them. */
  #createDocument(): string {
    const marks = this.#random() < 0.7 ? [this.#choose(END_MARKS)] : ["E", this.#choose(END_MARKS)];
    const operator = this.#random() < 0.7 ? "<<" : "<<-";
    const bodies = marks.map((mark) => {
      const end = mark.includes("E") ? "E" : "";
      const body = this.#choose(["", "text\n", "$(touch pwn)\n", "a\\\n", "\tE\n", "E \n"]);
      return `${body}${this.#choose(["", "", "", "\t"])}${end}`;
    });
    const openings = marks.map((mark) => `${operator}${mark}`).join(" ");
    return `${openings}\n${bodies.join("\n")}\n${this.#createSimpleCommandWithoutDocument()}`;
  }

  #createSimpleCommandWithoutDocument(): string {
    return `${this.#choose(NAMES)} ${this.#choose(WORDS)}`;
  }

  #choose(items: readonly string[]): string {
    return items[Math.floor(this.#random() * items.length)] ?? "";
  }
}
