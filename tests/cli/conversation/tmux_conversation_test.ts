/**
 * Conversations in a real terminal.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../../wait_until.ts";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { type MockProvider, startMockProvider } from "../mock_provider.ts";
import { SWINK_COMMAND } from "../swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "../temporary_directory.ts";
import { hasTmux, startTmux, type Tmux } from "../tmux.ts";

const ignore = Deno.build.os !== "linux" || !(await hasTmux());
const isProofRun = Deno.env.get("SWINK_PROVE") === "1";

const WRITE = scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" }));

/** A shell in which `swink` is the program. */
interface Shell extends AsyncDisposable {
  readonly tmux: Tmux;
  readonly home: TemporaryDirectory;
  readonly provider: MockProvider;
}

/** Opens a terminal whose command `swink` writes its process id to a file. */
async function openShell(home: TemporaryDirectory, provider: MockProvider): Promise<Shell> {
  const tmux = await startTmux({
    cwd: `${home.path}/p`,
    rows: 30,
    columns: 100,
    env: {
      XDG_CONFIG_HOME: `${home.path}/config`,
      XDG_STATE_HOME: `${home.path}/state`,
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_BASE_URL: provider.url,
    },
  });
  const words = SWINK_COMMAND.map((word) => `'${word}'`).join(" ");
  home.write("swink.sh", `echo $$ >'${home.path}/pid'\nexec ${words} "$@"\n`);
  await tmux.run(`swink() { sh '${home.path}/swink.sh' "$@"; }; clear`);
  return {
    tmux,
    home,
    provider,
    async [Symbol.asyncDispose]() {
      const pid = Number(home.read("pid"));
      await tmux[Symbol.asyncDispose]();
      // The program still writes the end of its session.
      await waitUntil(() => !isRunning(pid));
    },
  };
}

async function start({ tmux }: Shell, command = "swink"): Promise<void> {
  await tmux.type(command);
  await tmux.press("Enter");
  await tmux.waitFor(/^(?:EXECUTE|PLAN) · .*\n›$/m);
}

async function enter({ tmux }: Shell, text: string): Promise<void> {
  await tmux.type(text);
  await tmux.waitFor(text);
  await tmux.press("Enter");
}

/** Asserts that the terminal reads lines, shows what is typed and sends signals. */
async function assertLineMode({ tmux }: Shell): Promise<void> {
  const modes = await tmux.run(`stty -a | grep -oE -- '-?\\b(icanon|echo|isig|icrnl)\\b' | sort`);
  assertEquals(modes.split("\n"), ["echo", "icanon", "icrnl", "isig"]);
}

function test(
  name: string,
  run: () => Promise<void>,
  { isProof = false }: { readonly isProof?: boolean } = {},
): void {
  const isIgnored = ignore || (isProof && !isProofRun);
  Deno.test(`conversation in tmux: ${name}`, { ignore: isIgnored }, run);
}

test("a prompt, a question and the end", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  await using provider = startMockProvider(WRITE, scriptedReply("It is **written**."));
  await using shell = await openShell(home, provider);
  const { tmux } = shell;
  await start(shell);
  await enter(shell, "Write a file");
  await tmux.waitFor("Allow?");
  await tmux.press("y");
  const screen = await tmux.waitFor(/It is written\.\n.*2 turns/);
  assertMatch(screen, /\? write_file a\.txt\n/);
  assertEquals(home.read("p/a.txt"), "1\n");
  await tmux.press("C-d");
  // Until the prompt of the shell, the program reads the keys.
  await tmux.waitFor(/continues this conversation\n\$$/);
  await assertLineMode(shell);
});

test("Ctrl+Z and fg keep the text that is not sent", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  await using provider = startMockProvider(scriptedReply("Yes."));
  await using shell = await openShell(home, provider);
  const { tmux } = shell;
  await start(shell);
  await tmux.type("half a line");
  await tmux.waitFor("› half a line");
  await tmux.press("C-z");
  await tmux.waitFor(/Stopped/);
  await assertLineMode(shell);
  await tmux.type("fg");
  await tmux.press("Enter");
  await tmux.waitFor(/^› half a line$/m);
  await tmux.press("Enter");
  await tmux.waitFor("Yes.");
});

test("the editor gets the terminal, and gives it back", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  await using provider = startMockProvider(scriptedReply("Yes."));
  await using shell = await openShell(home, provider);
  const { tmux } = shell;
  home.write("edit.sh", 'printf "word: "; read word; echo "$word" >>"$1"\n');
  await tmux.run(`export EDITOR="sh '${home.path}/edit.sh'"; clear`);
  await start(shell);
  await enter(shell, "/editor");
  await tmux.waitFor(/^word:/m);
  await tmux.type("typed in the editor");
  await tmux.press("Enter");
  await tmux.waitFor("Yes.");
  assertStringIncludes(provider.requests[0] ?? "", "typed in the editor");
  await tmux.type("again");
  await tmux.waitFor("› again");
}, { isProof: true });

test("a program that ends while the editor is open closes it, and leaves its screen", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  await using provider = startMockProvider();
  await using shell = await openShell(home, provider);
  const { tmux } = shell;
  home.write("edit.sh", "printf '\\033[?1049h\\033[2Jediting'; exec sleep 100\n");
  await tmux.run(`export EDITOR="sh '${home.path}/edit.sh'"; clear`);
  await start(shell);
  await tmux.press("C-g");
  await tmux.waitFor(/^editing/m);
  Deno.kill(Number(home.read("pid")), "SIGTERM");
  await tmux.waitFor(/asks first[^]*\n\$ *$/);
  await assertLineMode(shell);
}, { isProof: true });

for (const end of ["killed", "closed"] as const) {
  const name = end === "killed" ? "a program that is killed" : "a terminal that is closed";
  test(`${name} leaves the session to the next one`, async () => {
    await using home = await createTemporaryDirectory({ "p/.keep": "" });
    await using provider = startMockProvider(
      scriptedReply("I have read it."),
      { hangsAfter: "I have begun" },
      scriptedReply("I go on."),
    );
    {
      await using shell = await openShell(home, provider);
      await start(shell);
      await enter(shell, "Read");
      await shell.tmux.waitFor("1 turn");
      await enter(shell, "Begin");
      await shell.tmux.waitFor("I have begun");
      const pid = Number(home.read("pid"));
      if (end === "killed") Deno.kill(pid, "SIGKILL");
      else await shell.tmux.close();
      await waitUntil(() => !isRunning(pid));
    }
    await using shell = await openShell(home, provider);
    await start(shell, "swink -c");
    await shell.tmux.waitFor(/^› Read\nI have read it\.\n› Begin$/m);
    await enter(shell, "Go on");
    await shell.tmux.waitFor("I go on.");
    assertStringIncludes(provider.requests[2] ?? "", "I have read it.");
  }, { isProof: end === "closed" });
}

function isRunning(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}
