import { assertEquals } from "@std/assert";
import { fakeTool } from "../../../src/testing/mod.ts";
import { createSandbox } from "../../../src/tools/mod.ts";
import { createFakeHost } from "../../../tests/cli/fake_host.ts";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { CallApproval } from "./call_approval.ts";

Deno.test("CallApproval: the mode approves no dangerous command of a sub-agent that changes nothing, and no unclear need", async () => {
  await using directory = await createTemporaryDirectory();
  await using sandbox = createSandbox({ cwd: directory.path, readOnly: true });
  const bash = fakeTool({ name: "bash", readOnly: true });
  const list = fakeTool({ name: "list", readOnly: true });
  const unclear = { ...list, requiresApproval: () => undefined as unknown as boolean };
  const calls = [
    { tool: bash, command: "ls" },
    { tool: bash, command: "sudo ls" },
    { tool: list, command: "sudo ls" },
    { tool: unclear, command: "ls" },
  ];
  const decisions = await Promise.all(calls.map(async ({ tool, command }) => {
    const { explain } = new CallApproval({
      mode: "smart",
      tools: [tool],
      allow: [],
      deny: [],
      getMessages: () => [],
      sandbox,
      host: createFakeHost({}),
      keyboard: undefined,
      project: undefined,
    }).approve;
    const { decision } = await explain({ name: tool.name, tool, arguments: { command } });
    return decision.type;
  }));
  assertEquals(decisions, ["approved", "asked", "approved", "asked"]);
});
