import { main } from "../../cli/main.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createFakeHost } from "./fake_host.ts";

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
    ["options of the program", ["--v"], "--version"],
    ["valid values of an option", ["run", "x", "-o", "s"], "stream-json"],
    ["valid arguments", ["completions", "z"], "zsh"],
    ["directories", ["run", "--cwd", "package_"], "package_sets"],
    ["files", ["run", "--patch", "architecture_"], "architecture_test.ts"],
    ["only directories", ["run", "--cwd", "architecture_"], ""],
    ["models", ["run", "-m", "anth"], "anthropic/claude-sonnet-5-5"],
    ["no value of a free text option", ["run", "--system", ""], ""],
  ] as const
) {
  Deno.test(`swink completions bash: completes ${subject}`, async () => {
    assertEquals(await complete(...words), expected);
  });
}
