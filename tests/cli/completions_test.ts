import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

async function createScript(shell: string): Promise<string> {
  const host = createFakeHost();
  assertEquals(await main(["completions", shell], host), 0);
  return host.output;
}

/** Returns the completions that bash offers for the last word. */
async function complete(...words: string[]): Promise<string> {
  const line = ["swink", ...words].map((word) => `'${word}'`).join(" ");
  const completion =
    `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _swink; echo \${COMPREPLY[*]}`;
  const { stdout } = await new Deno.Command("bash", {
    args: ["-c", `${await createScript("bash")}\n${completion}`],
    cwd: new URL("../", import.meta.url),
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

for (const shell of ["bash", "zsh", "fish"]) {
  Deno.test(`swink completions ${shell}: the script contains commands and options`, async () => {
    const script = await createScript(shell);
    for (const word of ["run", "demo", "output-format", "max-turns"]) {
      assertStringIncludes(script, word);
    }
  });
}

for (
  const [subject, words, expected] of [
    ["commands", ["com"], "completions"],
    ["options of a command", ["run", "--mo"], "--model"],
    ["options after -p", ["-p", "--mo"], "--model"],
    ["options of the program", ["--ve"], "--verbose --version"],
    ["options of a conversation without its command", ["-m", "openai/x", "--cont"], "--continue"],
    ["the values of such an option", ["--effort", "hi"], "high"],
    ["commands without options", ["c"], "chat config completions"],
    ["valid values of an option", ["run", "x", "-o", "s"], "stream-json"],
    ["valid arguments", ["completions", "z"], "zsh"],
    ["directories", ["run", "--cwd", "package_"], "package_sets"],
    ["files", ["run", "--patch", "architecture_"], "architecture_test.ts"],
    ["only directories", ["run", "--cwd", "architecture_"], ""],
    ["no value of a free text option", ["run", "--system", ""], ""],
    ["the value of an option after =", ["run", "x", "--effort", "=", "hi"], "high"],
    ["the values of an option after =", ["run", "--sandbox", "="], "auto required off"],
    ["directories after =", ["run", "--cwd", "=", "package_"], "package_sets"],
  ] as const
) {
  Deno.test(`swink completions bash: completes ${subject}`, async () => {
    assertEquals(await complete(...words), expected);
  });
}

/** The shells that are installed; the tests of others are ignored. */
const SHELLS = await Promise.all(
  ["zsh", "fish"].map(async (shell) => {
    const command = new Deno.Command(shell, { args: ["-c", ":"], stdout: "null", stderr: "null" });
    return await command.output().then(() => shell, () => undefined);
  }),
);

/** Runs a shell in a directory with a program `swink` that prints lines of sessions. */
async function runShell(
  shell: string,
  script: string,
  files: Readonly<Record<string, string>> = { "file.txt": "" },
): Promise<string[]> {
  await using directory = await createTemporaryDirectory(files);
  directory.write("swink", SWINK, 0o755);
  const source = await createScript(shell);
  const { stdout } = await new Deno.Command(shell, {
    args: ["-c", `${source}\n${script}`],
    cwd: directory.path,
    env: { PATH: `${directory.path}:${Deno.env.get("PATH")}`, HOME: directory.path },
    stderr: "null",
  }).output();
  const names = [...Deno.readDirSync(directory.path)].map(({ name }) => name);
  assertEquals(names.includes("executed"), false);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

/** Files whose names have blanks or patterns. */
const FILES = { "my shot.png": "", "my [ab]*.png": "" };

/** Prints sessions; the id of one would run a command if the shell expanded it. */
const SWINK = `#!/bin/sh
test "$1 $2" = "sessions list" && printf '%s\\n' 'review-1  now  First' '$(touch executed)  now  Second'
`;

/** Completes the last word with the script for bash, which zsh loads too. */
function createCompletion(...words: string[]): string {
  const line = ["swink", ...words].map((word) => `'${word}'`).join(" ");
  return `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; COMPREPLY=(); _swink; printf '%s\\n' "\${COMPREPLY[@]}"`;
}

Deno.test("swink completions bash: completes sessions, without running what their ids contain", async () => {
  const all = await runShell("bash", createCompletion("sessions", "show", ""));
  assertEquals(all.filter((word) => !word.startsWith("-")), [
    "review-1",
    "\\$\\(touch\\ executed\\)",
  ]);
  assertEquals(await runShell("bash", createCompletion("run", "-r", "rev")), ["review-1"]);
});

Deno.test("swink completions bash: paths may contain blanks and patterns", async () => {
  const complete = (...words: string[]) => runShell("bash", createCompletion(...words), FILES);
  assertEquals((await complete("run", "-i", "my")).sort(), Object.keys(FILES).sort());
  assertEquals((await complete("sessions", "import", "my")).sort(), Object.keys(FILES).sort());
});

Deno.test("swink completions bash: completes files only where they belong", async () => {
  assertEquals(await runShell("bash", createCompletion("sessions", "import", "fi")), ["file.txt"]);
  assertEquals(await runShell("bash", createCompletion("run", "-i", "fi")), ["file.txt"]);
  assertEquals(await runShell("bash", createCompletion("run", "fi")), [""]);
});

Deno.test({
  name: "swink completions zsh: the functions complete commands, options and sessions",
  ignore: !SHELLS.includes("zsh"),
  async fn() {
    const setup = "setopt kshglob noshglob braceexpand ksharrays shwordsplit\n";
    const completeWords = (...words: string[]) =>
      runShell("zsh", setup + createCompletion(...words));
    assertEquals((await completeWords("run", "--mo")).includes("--model"), true);
    assertEquals(await completeWords("run", "-r", "rev"), ["review-1"]);
    assertEquals(await completeWords("run", "--resume=rev"), ["--resume=review-1"]);
    const efforts = await completeWords("run", "--effort=hi");
    const script = setup + createCompletion("run", "-i", "my");
    const paths = await runShell("zsh", script, FILES);
    const named = await runShell("zsh", setup + createCompletion("run", "--image=my"), FILES);
    assertEquals(named.sort(), Object.keys(FILES).map((path) => `--image=${path}`).sort());
    // zsh itself leaves out those that do not begin with the word.
    assertEquals(efforts.filter((word) => word.startsWith("--effort=hi")), ["--effort=high"]);
    assertEquals(paths.filter((path) => path !== "swink").sort(), Object.keys(FILES).sort());
  },
});

Deno.test({
  name: "swink completions fish: completes commands, options, sessions and files where they belong",
  ignore: !SHELLS.includes("fish"),
  async fn() {
    const completeLine = async (line: string) =>
      (await runShell("fish", `complete -C '${line}'`)).map((word) => word.split("\t")[0]);
    assertEquals(await completeLine("swink comp"), ["completions"]);
    assertEquals(await completeLine("swink run --mod"), ["--model"]);
    assertEquals(await completeLine("swink --cont"), ["--continue"]);
    assertEquals(await completeLine("swink -m openai/x --cont"), ["--continue"]);
    assertEquals(await completeLine("swink sessions --cont"), [""]);
    assertEquals(await completeLine("swink run -o s"), ["stream-json"]);
    assertEquals(await completeLine("swink run -r rev"), ["review-1"]);
    assertEquals(await completeLine("swink run --effort=hi"), ["--effort=high"]);
    assertEquals(await completeLine("swink sessions import fi"), ["file.txt"]);
    assertEquals(await completeLine("swink run fi"), [""]);
  },
});
