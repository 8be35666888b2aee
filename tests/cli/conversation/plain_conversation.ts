/**
 * Conversations on a terminal that only writes lines, typed line by line.
 *
 * @module
 */

import { main } from "../../../cli/main.ts";
import { createFakeHost, type FakeHost, type FakeHostOptions } from "../fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "../temporary_directory.ts";

/** Options for `typeConversation()`. */
export interface PlainConversationOptions
  extends Pick<FakeHostOptions, "model" | "columns" | "rows" | "now"> {
  /** Lines that the user types, each when the program waits for input; a function is called in its place. */
  readonly typed: readonly (string | ((conversation: PlainConversation) => string | void))[];
  /** Arguments of the program. Default: none. */
  readonly args?: readonly string[];
  /** Environment variables in addition to the key and the home directory, which replaces `HOME` in their values. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the home directory; the working directory is `p`. */
  readonly files?: Readonly<Record<string, string>>;
  /** The home directory of an earlier conversation. Default: a new one. */
  readonly home?: TemporaryDirectory;
}

/** A conversation. */
export interface PlainConversation extends AsyncDisposable {
  /**
   * The screen with what was typed, without trailing blanks. `HOME` replaces the home directory, `SESSION` the ids of
   * sessions, and all durations are `0.0 s`.
   */
  readonly transcript: string;
  /** The output after each typed line, up to the next one. */
  readonly outputs: readonly string[];
  /** The host. */
  readonly host: FakeHost;
  /** The home directory. */
  readonly home: TemporaryDirectory;
  /** Exit code of the program. */
  readonly code: number;
  /** The bodies of the requests. */
  readonly requests: readonly Request[];
}

/** The body of a request. */
interface Request {
  readonly model: string;
  readonly system?: unknown;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | readonly Readonly<Record<string, unknown>>[];
  }[];
}

/** Matches the end of the screen when the program waits for a line: after the prompt, or after a question. */
const WAITING = /(?:^|\n)(?:> | {2}|[^\n]*: )$/;

/** Runs a conversation with `--plain` and types lines. */
export async function typeConversation(
  options: PlainConversationOptions,
): Promise<PlainConversation> {
  const { typed, args = [], env = {}, files = {} } = options;
  const home = options.home ?? await createTemporaryDirectory({ "p/.keep": "", ...files });
  const remaining = [...typed];
  let screen = "";
  const starts: number[] = [];
  let input: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isClosed = false;
  const host = createFakeHost({
    ...options,
    model: options.model ?? [],
    terminals: ["input", "output", "messages"],
    input: new ReadableStream({
      start(controller) {
        input = controller;
      },
    }),
    env: {
      ANTHROPIC_API_KEY: "k",
      HOME: home.path,
      TERM: "dumb",
      ...Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replaceAll("HOME", home.path)]),
      ),
    },
  });
  const normalize = (text: string) =>
    text.replaceAll(home.path, "HOME")
      .replaceAll(/\b\d{8}-\d{6}-[a-z0-9]+\b/g, "SESSION")
      .replaceAll(/(?<= · )\d+\.\d s$/gm, "0.0 s")
      .replaceAll(/[ \t]+$/gm, "");
  const conversation = {
    host,
    home,
    code: -1,
    get transcript() {
      return normalize(screen);
    },
    get outputs() {
      return starts.map((start, index) => {
        const end = starts[index + 1];
        const text = screen.slice(start, end).replace(/^.*\n/, "");
        return normalize(end === undefined ? text : text.replace(/[^\n]*$/, ""));
      });
    },
    get requests() {
      return host.requests.map(({ body }) => JSON.parse(body));
    },
    async [Symbol.asyncDispose]() {
      if (!options.home) await home[Symbol.asyncDispose]();
    },
  };
  const type = () => {
    if (!WAITING.test(screen) || isClosed) return;
    const next = remaining.shift();
    if (next === undefined) {
      isClosed = true;
      return input?.close();
    }
    const line = typeof next === "string" ? next : next(conversation);
    if (line === undefined) return;
    starts.push(screen.length);
    screen += `${line}\n`;
    input?.enqueue(new TextEncoder().encode(`${line}\n`));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasEnded = false;
  const { output, messages } = host.terminal;
  for (const stream of [output, messages]) {
    const write = stream.write.bind(stream);
    stream.write = async (content) => {
      await write(content);
      screen += typeof content === "string" ? content : new TextDecoder().decode(content);
      // The program waits for the line that is typed after its own write.
      clearTimeout(timer);
      // A signal ends the program while it writes.
      if (!hasEnded) timer = setTimeout(type, 0);
    };
  }
  const code = await main(["--cwd", `${home.path}/p`, "--plain", ...args], host);
  hasEnded = true;
  clearTimeout(timer);
  return Object.defineProperties(conversation, { code: { value: code } });
}
