import { assertEquals, assertRejects } from "@std/assert";
import { ConfigurationError } from "../host/cli_error.ts";
import { isKey, runKeyCommand } from "./key_command.ts";

Deno.test("runKeyCommand(): returns the output of the command, which gets the name of the provider", async () => {
  assertEquals(await runKeyCommand('echo " sk-$SWINK_PROVIDER "', "openai"), "sk-openai");
});

Deno.test("runKeyCommand(): reports a command that fails, with its message and without its output", async () => {
  const check = async (command: string) =>
    (await assertRejects(() => runKeyCommand(command, "openai"), ConfigurationError)).message;
  assertEquals(
    await check("echo sk-canary; echo 'not signed in' >&2; exit 3"),
    "The key command for openai: sh failed with exit code 3: not signed in",
  );
  const noKey = "The key command for openai printed no key: its output must be one word";
  assertEquals(await check("true"), noKey);
  assertEquals(await check("echo sk-canary and more"), noKey);
  assertEquals(await check("printf 'a\\nb'"), noKey);
});

Deno.test("isKey(): accepts one word of visible ASCII characters", () => {
  assertEquals(["sk-A_1.~/+=", "", "a b", "a\tb", "ü", "\x1b[A", "x".repeat(10_001)].map(isKey), [
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
