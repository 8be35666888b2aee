/**
 * A real terminal for tests: tmux with a pseudo-terminal.
 *
 * @module
 */

import { getBasicEnvironment } from "./swink_process.ts";

/** Options for `startTmux()`. */
export interface TmuxOptions {
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number;
  /** Rows of the terminal. Default: 24. */
  readonly rows?: number;
  /** Environment variables in addition to those of `getBasicEnvironment()`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. */
  readonly cwd?: string;
}

/** A terminal with a shell. */
export interface Tmux extends AsyncDisposable {
  /** Types a text. */
  type(text: string): Promise<void>;
  /** Presses keys by the names of tmux, such as `Enter` and `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** Pastes a text, marked as such if the program asks for it. */
  paste(text: string): Promise<void>;
  /** Returns the rows of the screen, or of scrollback and screen. */
  capture(part?: "screen" | "all"): Promise<string>;
  /** Waits until the screen matches, and returns it. */
  waitFor(pattern: RegExp | string): Promise<string>;
  /** Changes the size of the terminal. */
  resize(columns: number, rows: number): Promise<void>;
  /** Runs a command of the shell and returns its output. */
  run(command: string): Promise<string>;
  /** Closes the terminal. */
  close(): Promise<void>;
}

/** Time after which a screen is not expected any more; longer than any test takes on a busy machine. */
const TIMEOUT_MS = 20_000;

/** Time between looks at the screen. */
const POLL_MS = 20;

/** Whether tmux is installed. */
export async function hasTmux(): Promise<boolean> {
  const command = new Deno.Command("tmux", { args: ["-V"], stdout: "null", stderr: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

/** Starts a terminal with a shell that has job control. */
export async function startTmux(options: TmuxOptions = {}): Promise<Tmux> {
  const { columns = 80, rows = 24, cwd, env = {} } = options;
  const directory = await Deno.makeTempDir({ prefix: "swink_tmux_" });
  const run = async (...args: string[]) => {
    const command = new Deno.Command("tmux", {
      args: ["-S", `${directory}/socket`, "-f", "/dev/null", ...args],
      clearEnv: true,
      env: { ...getBasicEnvironment(), LANG: "C.UTF-8", TERM: "xterm-256color", ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdin: "null",
    });
    const { stdout } = await command.output();
    return new TextDecoder().decode(stdout).trimEnd();
  };
  const size = ["-x", `${columns}`, "-y", `${rows}`];
  await run(
    "new-session",
    "-d",
    ...size,
    "PS1='$ ' bash --norc --noprofile -i",
    ";",
    "set",
    "-g",
    "extended-keys",
    "on",
  );
  let commands = 0;
  const tmux: Tmux = {
    type: async (text) => void await run("send-keys", "-l", text),
    press: async (...keys) => void await run("send-keys", ...keys),
    async paste(text) {
      await run("set-buffer", text);
      await run("paste-buffer", "-p", "-r");
    },
    capture: (part = "screen") =>
      run("capture-pane", "-p", ...(part === "all" ? ["-S", "-", "-J"] : [])),
    async waitFor(pattern) {
      const deadline = performance.now() + TIMEOUT_MS;
      for (;;) {
        const screen = await tmux.capture();
        const matches = typeof pattern === "string"
          ? screen.includes(pattern)
          : pattern.test(screen);
        if (matches) return screen;
        if (performance.now() > deadline) throw new Error(`No ${pattern} in\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    resize: async (width, height) =>
      void await run("resize-window", "-x", `${width}`, "-y", `${height}`),
    async run(command) {
      const mark = `end-${++commands}`;
      await tmux.type(`clear; ${command}; echo ${mark.replace("-", "''-")}`);
      await tmux.press("Enter");
      const screen = await tmux.waitFor(new RegExp(`^${mark}$`, "m"));
      return screen.slice(0, screen.search(new RegExp(`^${mark}$`, "m"))).trim();
    },
    close: async () => void await run("kill-server"),
    async [Symbol.asyncDispose]() {
      await tmux.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
  await tmux.waitFor("$");
  return tmux;
}
