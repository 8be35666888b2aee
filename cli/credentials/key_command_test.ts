import { assertEquals, assertRejects } from "@std/assert";
import { waitUntil } from "../../tests/wait_until.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { isKey, runKeyCommand } from "./key_command.ts";

Deno.test("runKeyCommand(): returns the output of the command, which gets the name of the provider", async () => {
  assertEquals(
    await runKeyCommand('echo " sk-$SWINK_PROVIDER "', { provider: "openai" }),
    "sk-openai",
  );
});

Deno.test("runKeyCommand(): reports a command that fails, with its message and without its output", async () => {
  const check = async (command: string) =>
    (await assertRejects(() => runKeyCommand(command, { provider: "openai" }), ConfigurationError))
      .message;
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

Deno.test("runKeyCommand(): an abort ends it, also when a program that it started keeps the output open", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink test " });
  const controller = new AbortController();
  const options = { provider: "openai", signal: controller.signal };
  const command = `sleep 60 & echo $! > "${directory}/child"; wait`;
  const running = assertRejects(() => runKeyCommand(command, options), ConfigurationError);
  try {
    await waitUntil(() => hasText(`${directory}/child`));
    controller.abort();
    assertEquals((await running).message, "The key command for openai: sh was interrupted");
    const again = await assertRejects(() => runKeyCommand("true", options), ConfigurationError);
    assertEquals(again.message, "The key command for openai: sh was interrupted");
  } finally {
    Deno.kill(Number(await Deno.readTextFile(`${directory}/child`)), "SIGKILL");
    await Deno.remove(directory, { recursive: true });
  }
});

function hasText(path: string): boolean {
  try {
    return Deno.readTextFileSync(path) !== "";
  } catch {
    return false;
  }
}
