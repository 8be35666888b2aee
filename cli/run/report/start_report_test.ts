import { assertEquals } from "@std/assert";
import { Agent } from "../../../mod.ts";
import { scriptedStream } from "../../../src/testing/mod.ts";
import { codingTools, type SandboxReport } from "../../../src/tools/mod.ts";
import { NO_PROJECT } from "../../project/load_project.ts";
import type { RunStart } from "../../render/reporter.ts";
import { reportStart } from "./start_report.ts";

/** Reports the start of a run with some tools in a sandbox that enforces nothing; returns what was reported. */
async function report(...names: readonly string[]) {
  const starts: RunStart[] = [];
  const notices: string[] = [];
  const ignore = () => Promise.resolve();
  const reporter = {
    onRunStart: (start: RunStart) => Promise.resolve(void starts.push(start)),
    onNotice: (notice: string) => Promise.resolve(void notices.push(notice)),
    onEvent: ignore,
    onRunEnd: ignore,
    [Symbol.dispose]() {},
  };
  const sandbox: SandboxReport = {
    status: "unconfined",
    confined: false,
    summary: "nothing confines commands",
    rules: [],
    mechanisms: [],
  };
  const agent = new Agent({
    model: "any/model",
    streamFn: scriptedStream([]),
    tools: codingTools().filter(({ name }) => names.includes(name)),
  });
  await reportStart(reporter, {
    cwd: "/project",
    net: "off",
    sandbox: "auto",
    project: NO_PROJECT,
    setup: {
      agent,
      planMode: undefined,
      approvalMode: "smart",
      isInteractive: false,
      warnings: [],
      describeSandbox: () => Promise.resolve(sandbox),
    },
  });
  return { start: starts[0], notices };
}

Deno.test("reportStart(): reports the properties of the run", async () => {
  const { start } = await report("read_file", "bash");
  assertEquals(start?.tools, ["read_file", "bash"]);
  assertEquals(start?.sandbox, { status: "unconfined", mechanisms: [] });
});

Deno.test("reportStart(): warns about commands that are not confined, if there is a tool that runs them", async () => {
  assertEquals((await report("bash")).notices, ["Sandbox: nothing confines commands"]);
  assertEquals((await report("read_file")).notices, []);
});
