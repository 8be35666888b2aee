import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createSampleProject } from "../../cli/demo/sample_project.ts";
import { findTestRunner } from "../../cli/demo/test_runner.ts";
import { main } from "../../cli/main.ts";
import { createDeadline } from "../deadline.ts";
import { createFakeHost } from "./fake_host.ts";
import { getBasicEnvironment } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const PATH = Deno.env.get("PATH") ?? "";

Deno.test("demo: repairs the project, shows the change and states that the model is scripted", async () => {
  const host = createFakeHost({ env: { PATH } });
  assertEquals(await main(["demo"], host), 0);
  assertStringIncludes(host.messages, "• bash deno test · Exit code: 1 · ");
  assertStringIncludes(
    host.messages,
    "• edit_file cart.mjs · Edited cart.mjs (+2 -2)\n• bash deno test · Exit code: 0",
  );
  assertStringIncludes(host.messages, "5 turns · 19,530 tokens in (14,410 cached), 561 out · $");
  assertStringIncludes(
    host.output,
    "+  const value = items.reduce((sum, item) => sum + item.price * item.quantity, 0);\n",
  );
  assertStringIncludes(host.output, "The model was scripted.");
  assertStringIncludes(host.output, "export ANTHROPIC_API_KEY=");
  assertEquals(host.requests.length, 0, "requests through the fetch of the host");
});

Deno.test("demo: ends with 130 on SIGINT, and does not say that the changes of its project are kept", async () => {
  const host = createFakeHost({ env: { PATH, NO_COLOR: "1" }, terminals: ["output", "messages"] });
  host.onMessage((text) => text.includes("bash") && host.sendSignal("SIGINT"));
  assertEquals(await main(["demo"], host), 130);
  assertStringIncludes(host.messages, "swink: interrupted\n");
});

for (
  const [runner, command] of [["deno", [Deno.execPath(), "test"]], ["node", [
    "node",
    "--test",
  ]]] as const
) {
  Deno.test(`demo: two of the four tests of the sample project fail with ${runner}, without network and cache`, async () => {
    await using project = await createSampleProject();
    await using cache = await createTemporaryDirectory();
    const [program = "", ...args] = command;
    const { code, stdout } = await new Deno.Command(program, {
      args,
      cwd: project.directory,
      env: {
        ...getBasicEnvironment(),
        DENO_DIR: cache.path,
        HTTPS_PROXY: "http://127.0.0.1:1",
        NO_COLOR: "1",
      },
      clearEnv: true,
      stdin: "null",
      signal: createDeadline(),
    }).output();
    const text = new TextDecoder().decode(stdout);
    assertEquals(code, 1);
    assert(/2 passed.*2 failed|# pass 2\n# fail 2/s.test(text), text);
  });
}

Deno.test("findTestRunner(): prefers the deno that runs the program, then an installed one", async () => {
  await using directory = await createTemporaryDirectory({
    "a/node": "",
    "b/deno": "",
    "b/node": "",
  });
  const resolve = (name: string) => `${directory.path}/${name}`;
  assertEquals(findTestRunner("/opt/deno", "/bin"), { command: "deno test", path: "/opt:/bin" });
  assertEquals(findTestRunner("/opt/swink", `/x:${resolve("b")}`).command, "deno test");
  assertEquals(findTestRunner("/opt/swink", resolve("a")).command, "node --test");
  assertThrows(() => findTestRunner("/opt/swink", "/x"), Error, "contains neither");
});
