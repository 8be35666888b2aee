import { settings, TextPrompt } from "npm:@clack/core@^1.6.0";
import { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { styleText } from "node:util";

/** Options for `Input.prompt()`. */
export interface InputOptions {
  message: string;
  indent: string;
  prefix: "";
  /** Returns `true`, or the reason why a value is invalid. */
  validate: (value: string) => true | string;
  transform: (value: string) => string | undefined;
  /** Returns one key per read, and rejects at the end of the input. */
  reader: {
    read(buffer: Uint8Array): Promise<number>;
    isTerminal(): boolean;
    setRaw(isRaw: boolean): void;
  };
  writer: { writeSync(bytes: Uint8Array): number };
}

const SHOW_CURSOR = "\x1b[?25h";
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = new Uint8Array([0x0d]);

// The original ignores Escape.
settings.aliases.delete("escape");

/** A prompt for one line of text: the part of the class that this project uses, over `@clack/core`. */
export class Input {
  /** Asks until the value is valid. */
  static async prompt(options: InputOptions): Promise<string> {
    const { validate, transform, reader, writer } = options;
    if (reader.isTerminal()) {
      throw new Error("The offline package does not set the mode of a terminal");
    }
    const closing = new AbortController();
    const input = new Readable({ read() {} });
    const prompt = new TextPrompt({
      input,
      output: createOutput(writer, closing.signal),
      validate(value = "") {
        const result = validate(value);
        return result === true ? undefined : result;
      },
      render() {
        const value = this.state === "submit"
          ? transform(this.userInput)
          : this.userInputWithCursor;
        const line = `${options.indent}${style("bold", options.message)} › ${value}`;
        if (this.state !== "error") return line;
        return `${line}\n${options.indent}${style("red", `✘ ${this.error}`)}`;
      },
      signal: closing.signal,
    });
    let isOpen = true;
    const submitted = prompt.prompt().then(() => isOpen = false);
    try {
      while (isOpen) {
        input.push(await readKey(reader));
        await setImmediate();
      }
      await submitted;
      return transform(prompt.value ?? "") ?? "";
    } catch (error) {
      closing.abort();
      writer.writeSync(new TextEncoder().encode(SHOW_CURSOR));
      throw error;
    }
  }
}

async function readKey(reader: InputOptions["reader"]): Promise<Uint8Array> {
  const buffer = new Uint8Array(8);
  const key = buffer.subarray(0, await reader.read(buffer));
  // The original accepts a line feed as Enter.
  return key[0] === LINE_FEED ? CARRIAGE_RETURN : key;
}

/** Creates a stream that drops what is written after `closed`. */
function createOutput(writer: InputOptions["writer"], closed: AbortSignal): Writable {
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!closed.aborted) writer.writeSync(chunk);
      done();
    },
  });
  return Object.assign(output, { columns: getColumns() });
}

function getColumns(): number {
  try {
    return Deno.consoleSize().columns || Infinity;
  } catch {
    return Infinity;
  }
}

function style(format: "bold" | "red", text: string): string {
  return styleText(format, text, { validateStream: false });
}
