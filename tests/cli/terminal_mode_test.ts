/**
 * Keyboard and live region in a real terminal: keys, and the mode of the terminal after every kind of end.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { root } from "../project.ts";
import { waitUntil } from "../wait_until.ts";
import { hasTmux, startTmux, type Tmux } from "./tmux.ts";

const ignore = Deno.build.os !== "linux" || !(await hasTmux());
const { config } = await choosePackages();
const program = decodeURIComponent(new URL("tests/cli/terminal_program.ts", root).pathname);
const command = `${Deno.execPath()} run -qA --no-lock --no-check -c ${config} ${program}`;

const PROMPT = "── status ──\n›";

/** Starts the program and returns its process id. */
async function startProgram(tmux: Tmux, start: string = command): Promise<number> {
  await tmux.type(`clear; ${start}`);
  await tmux.press("Enter");
  const screen = await tmux.waitFor(/^ready \d+\n── status ──\n›$/m);
  return Number(/ready (\d+)/.exec(screen)?.[1]);
}

/** Asserts that the terminal reads lines, shows what is typed, sends signals, and marks no pasted texts. */
async function assertLineMode(tmux: Tmux): Promise<void> {
  const modes = await tmux.run(`stty -a | grep -oE -- '-?\\b(icanon|echo|isig|icrnl)\\b' | sort`);
  assertEquals(modes.split("\n"), ["echo", "icanon", "icrnl", "isig"]);
}

function isRunning(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

function test(name: string, run: (tmux: Tmux) => Promise<void>): void {
  Deno.test(`terminal mode: ${name}`, { ignore }, async () => {
    await using tmux = await startTmux();
    await run(tmux);
  });
}

test("keys and pasted texts of tmux arrive, also keys that lines and signals use", async (tmux) => {
  await startProgram(tmux);
  const keys = ["a", "ä", "Enter", "C-c", "C-j", "C-\\", "BTab", "M-Enter", "S-Left", "C-Right"];
  await tmux.press(...keys, "F2", "Home", "DC", "S-Enter", "Escape");
  await tmux.waitFor('key "escape"');
  await tmux.paste("two\nlines");
  const screen = await tmux.waitFor("paste");
  assertEquals(screen.split("\n").slice(1), [
    'character "a"',
    'character "ä"',
    'key "enter"',
    'key "ctrl+c"',
    'key "ctrl+j"',
    'key "ctrl+\\\\"',
    'key "shift+tab"',
    'key "alt+enter"',
    'key "shift+left"',
    'key "ctrl+right"',
    'key "f2"',
    'key "home"',
    'key "delete"',
    'key "shift+enter"',
    'key "escape"',
    'paste "two\\nlines"',
    "── status ──",
    "› aä",
  ]);
});

for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"] as const) {
  test(`${signal} ends the program and restores the terminal`, async (tmux) => {
    Deno.kill(await startProgram(tmux), signal);
    const screen = await tmux.waitFor(`end ${signal}`);
    assertMatch(screen, /^ready \d+\nend SIG\w+$/m);
    await assertLineMode(tmux);
  });
}

for (const [end, key] of [["an exit", "F8"], ["an error", "F6"], ["a rejection", "F7"]] as const) {
  test(`${end} restores the terminal`, async (tmux) => {
    await startProgram(tmux);
    await tmux.press(key);
    await tmux.waitFor(/\$ $|\$$/);
    await assertLineMode(tmux);
    await tmux.paste("echo no marks");
    await tmux.waitFor("$ echo no marks");
  });
}

for (
  const [name, start] of [
    ["Ctrl+Z and fg", command],
    // Such as npx, or the program of the npm package.
    ["of a program that another one has started, Ctrl+Z and fg", `sh -c '${command}; exit'`],
  ] as const
) {
  test(`${name} leave the terminal to the shell and take it back`, async (tmux) => {
    await startProgram(tmux, start);
    for (let count = 1; count <= 2; count++) {
      await tmux.type(`${count}`);
      await tmux.waitFor(`character "${count}"`);
      await tmux.press("C-z");
      await tmux.waitFor(/Stopped[^]*\n\$$/);
      await assertLineMode(tmux);
      await tmux.type("fg");
      await tmux.press("Enter");
      await tmux.waitFor(/› 1?2?$/);
    }
    await tmux.type("3");
    const screen = await tmux.waitFor("› 123");
    assertEquals(screen.match(/── status ──/g)?.length, 1);
  });
}

for (const signal of ["SIGTSTP", "SIGSTOP"] as const) {
  test(`${signal} from another program and fg keep the terminal usable`, async (tmux) => {
    const pid = await startProgram(tmux);
    Deno.kill(pid, signal);
    await tmux.waitFor(/Stopped[^]*\n\$$/);
    await assertLineMode(tmux);
    await tmux.type("fg");
    await tmux.press("Enter");
    await tmux.waitFor(PROMPT);
    await tmux.type("a");
    await tmux.press("C-c");
    await tmux.waitFor(/key "ctrl\+c"\n── status ──\n› a$/);
  });
}

test("Ctrl+Z does nothing without a shell that continues the program", async (tmux) => {
  // The program replaces the first process of the session, so that it has no job control.
  await tmux.type(`clear; exec ${command}`);
  await tmux.press("Enter");
  await tmux.waitFor(PROMPT);
  await tmux.press("C-z");
  await tmux.waitFor('key "ctrl+z"');
  await tmux.type("not stopped");
  await tmux.waitFor("› not stopped");
});

test("another program gets all keys while it runs", async (tmux) => {
  await startProgram(tmux);
  await tmux.press("F5");
  await tmux.waitFor(/key "f5"$/);
  await tmux.type("a line");
  await tmux.press("Enter");
  await tmux.waitFor(/child: a line\n── status ──\n›$/);
  await tmux.type("z");
  await tmux.waitFor(/character "z"\n── status ──\n› z$/);
});

test("a resize draws the region once, below the output", async (tmux) => {
  await startProgram(tmux);
  await tmux.type("abcdfghi");
  await tmux.waitFor("› abcdfghi");
  for (const [columns, rows] of [[60, 24], [100, 10], [20, 30], [80, 24]] as const) {
    await tmux.resize(columns, rows);
    await tmux.press("Home");
    await tmux.waitFor(/key "home"\n── status ──\n› abcdfghi$/);
  }
  const all = await tmux.capture("all");
  assertEquals(all.match(/── status ──/g)?.length, 1);
  assertEquals(all.match(/character "."/g)?.length, 8);
});

test("resizes while text is streamed and typed lose nothing", async (tmux) => {
  await startProgram(tmux);
  await tmux.press("F4");
  for (let count = 0; count < 12; count++) {
    await tmux.resize(20 + (count * 37) % 70, 8 + (count * 13) % 20);
    await tmux.type("0123");
  }
  await tmux.waitFor(/w300\n── status ──\n›/);
  const all = await tmux.capture("all");
  // tmux reports its size later than it breaks lines. What is drawn in between may remain on the screen a second time.
  const words = new Set(all.match(/\bw\d+\b/g));
  assertEquals([...words], Array.from({ length: 300 }, (_, index) => `w${index + 1}`));
  assert((all.match(/character "\d"/g)?.length ?? 0) >= 48);
});

test("a terminal that is closed ends the program", async (tmux) => {
  const pid = await startProgram(tmux);
  await tmux.close();
  await waitUntil(() => !isRunning(pid));
});
