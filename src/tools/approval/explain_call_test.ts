import { assert, assertEquals } from "@std/assert";
import { createConfinementStub } from "../../../tests/sandbox/confinement_stub.ts";
import { getRisk, type RiskClass } from "../../core/approval/risk.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { codingTools } from "../coding_tools.ts";
import { fetchUrlTool } from "../fetch_url.ts";
import { type ApprovalGate, approvalGate, type ApprovalGateOptions } from "./approval_gate.ts";
import { getCommandRisk } from "./command_risk.ts";

const allTools = (): AgentTool[] => [...codingTools(), fetchUrlTool()];

function findTool(name: string): AgentTool {
  const tool = allTools().find((tool) => tool.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

async function explain(options: ApprovalGateOptions, name: string, args: JsonObject) {
  const gate = approvalGate(options);
  const { decision, risk } = await gate.explain({ name, arguments: args, tool: findTool(name) });
  return `${risk} ${decision.type}`;
}

Deno.test("tools declare the risk class of their calls", async () => {
  const expected: [string, JsonObject, RiskClass][] = [
    ["read_file", { path: "a" }, "read"],
    ["list_directory", {}, "read"],
    ["search_files", { pattern: "a" }, "read"],
    ["write_file", { path: "a", content: "" }, "write"],
    ["edit_file", { path: "a", edits: [] }, "write"],
    ["bash", { command: "git status" }, "read"],
    ["bash", { command: "deno test" }, "execute"],
    ["bash", { command: "git push" }, "network"],
    ["fetch_url", { url: "https://a.test/" }, "network"],
  ];
  for (const [name, args, risk] of expected) {
    assertEquals(await getRisk(findTool(name), args), risk, `${name} ${JSON.stringify(args)}`);
  }
});

Deno.test("getRisk(): a tool without a class reads if it is read-only; a class that is invalid or fails is the highest", async () => {
  const base = {
    name: "a",
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  } as const;
  assertEquals(await getRisk(defineTool({ ...base, readOnly: true }), {}), "read");
  assertEquals(await getRisk(defineTool(base), {}), "execute");
  const failing = () => {
    throw new Error("no");
  };
  assertEquals(
    await getRisk(defineTool({ ...base, readOnly: true, risk: failing }), {}),
    "network",
  );
  assertEquals(await getRisk({ readOnly: true, risk: () => "none" as never }, {}), "network");
  assertEquals(
    await getRisk({ readOnly: true, risk: () => Promise.reject(new Error("no")) }, {}),
    "network",
  );
});

Deno.test("approvalGate(): classes are approved, asked for or denied", async () => {
  const options = {
    classes: { read: "ask", write: "auto", network: "deny" },
    sandbox: createConfinementStub(true),
  } as const;
  const decide = (name: string, args: JsonObject) => explain(options, name, args);
  assertEquals(await decide("read_file", { path: "a" }), "read asked");
  assertEquals(await decide("write_file", { path: "a", content: "" }), "write approved");
  assertEquals(await decide("bash", { command: "ls" }), "read asked");
  assertEquals(await decide("bash", { command: "make" }), "execute asked");
  assertEquals(await decide("bash", { command: "git push" }), "network denied");
  assertEquals(await decide("fetch_url", { url: "https://a.test" }), "network denied");
});

Deno.test("approvalGate(): a denied class is denied in every mode, and whatever a rule or a grant allows", async () => {
  for (const mode of ["always", "smart", "bypassed"] as const) {
    const gate = approvalGate({ mode, classes: { network: "deny" }, allow: ["bash"] });
    gate.trust({ type: "prefix", name: "bash", prefix: "git push" });
    const { decision } = await gate.explain({
      name: "bash",
      arguments: { command: "git push" },
      tool: findTool("bash"),
    });
    assertEquals(decision, {
      type: "denied",
      reason: 'Calls of the class "network" are denied.',
      rule: "network: deny",
      origin: "rule",
    });
  }
});

Deno.test("approvalGate(): approves commands by class only in a confined sandbox, and never dangerous ones", async () => {
  const decide = (options: ApprovalGateOptions, command: string) =>
    explain(options, "bash", { command });
  assertEquals(
    await decide({ sandbox: createConfinementStub(true) }, "git status"),
    "read approved",
  );
  assertEquals(await decide({ sandbox: createConfinementStub(false) }, "git status"), "read asked");
  assertEquals(await decide({}, "git status"), "read asked");
  const automatic = { execute: "auto", network: "auto" } as const;
  const confined = { classes: automatic, sandbox: createConfinementStub(true) };
  assertEquals(await decide(confined, "make"), "execute approved");
  assertEquals(await decide(confined, "rm -rf /"), "execute asked");
  assertEquals(await decide(confined, "cat .env"), "read asked");
  assertEquals(
    await decide({ classes: automatic, sandbox: createConfinementStub(false) }, "make"),
    "execute asked",
  );
});

Deno.test("approvalGate(): explain() does not ask and grants nothing, and the prompt gets the reason", async () => {
  const reasons: string[] = [];
  const gate = approvalGate({
    ask: ({ reason, risk }) => {
      reasons.push(`${risk}: ${reason}`);
      return { type: "approved", scope: "tool" };
    },
  });
  const tool = findTool("write_file");
  const call = { name: "write_file", arguments: { path: "a", content: "" }, tool };
  assertEquals((await gate.explain(call)).decision.type, "asked");
  assertEquals([reasons, gate.trusted], [[], []]);
  const signal = new AbortController().signal;
  await gate({ ...call, toolCallId: "1", context: undefined, signal });
  assertEquals(reasons, [
    'write: A call of the class "write" requires approval in the mode "smart", and no rule or grant allows it.',
  ]);
  assertEquals((await gate.explain(call)).decision, {
    type: "approved",
    rule: "write_file",
    ruleSource: "session",
    origin: "rule",
  });
});

Deno.test("getCommandRisk(): is that of the part with the highest class", () => {
  const expected: Record<RiskClass, readonly string[]> = {
    read: ["ls", "git log -3 | head", "cat a && grep b src", "git status; pwd"],
    write: [],
    execute: [
      "make",
      "deno test -A",
      "npm run build",
      "npm test",
      "git commit -m a",
      "rm a",
      "ls > a",
      "cargo build",
      "pip list",
      "npm --version",
      "pip -V",
      "sed -i -e '/a/d' b",
      "",
    ],
    network: [
      "curl a.test",
      "ls | nc a.test 1",
      "git -C x push",
      "git clone a",
      "npm install",
      "npm --prefix x ci",
      "npx a",
      "pip install a",
      "deno add a",
      "env A=b curl x",
      "sh -c 'wget a'",
      "xargs curl",
      "$X",
      "sh script.sh",
      "make $(curl a)",
      "git $X",
      "docker run a",
      "ssh a ls",
    ],
  };
  for (const [risk, commands] of Object.entries(expected)) {
    for (const command of commands) assertEquals(getCommandRisk(command), risk, command);
  }
});

Deno.test("approvalGate(): a tool whose requiresApproval fails, or returns no boolean, requires approval", async () => {
  const answers: readonly ((args: JsonObject) => unknown)[] = [
    () => undefined,
    () => 0,
    () => Promise.resolve(false),
    () => {
      throw new Error("no");
    },
  ];
  const decide = async (requiresApproval: (args: JsonObject) => unknown, args: JsonObject) => {
    const tool = defineTool({
      name: "a",
      description: "",
      parameters: { type: "object" },
      requiresApproval: requiresApproval as () => boolean,
      execute: () => "",
    });
    return (await approvalGate().explain({ name: "a", arguments: args, tool })).decision.type;
  };
  for (const answer of answers) assertEquals(await decide(answer, {}), "asked", String(answer));
  const args = { path: "a" };
  const change = (own: JsonObject) => {
    Object.assign(own, { path: "b" });
    return false;
  };
  assertEquals([await decide(change, args), args], ["approved", { path: "a" }]);
});

Deno.test("approvalGate(): bash that changes nothing requires no approval, apart from dangerous commands", async () => {
  const [bash] = [findTool("bash")].map((tool): AgentTool => ({ ...tool, readOnly: true }));
  assert(bash);
  const decide = async (command: string, options: ApprovalGateOptions = {}) => {
    const call = { name: "bash", arguments: { command }, tool: bash };
    return (await approvalGate(options).explain(call)).decision.type;
  };
  for (const command of ["make -n", "deno test", "ls > a", "echo $X", "curl a.test"]) {
    assertEquals(await decide(command), "approved", command);
    assertEquals(
      await decide(command, { sandbox: createConfinementStub(false) }),
      "approved",
      command,
    );
    assertEquals(await decide(command, { mode: "always" }), "asked", command);
  }
  assertEquals(await decide("cat .env"), "asked");
  assertEquals(await decide("sudo ls"), "asked");
  assertEquals(await decide("make", { classes: { execute: "ask" } }), "asked");
  assertEquals(await decide("make", { classes: { execute: "deny" } }), "denied");
  assertEquals(await decide("make", { deny: ["bash(make *)"] }), "denied");
});

Deno.test("approvalGate(): bash that changes nothing requires an approval for files that the command does not name", async () => {
  const [bash] = [findTool("bash")].map((tool): AgentTool => ({ ...tool, readOnly: true }));
  assert(bash);
  const explain = async (command: string, options: ApprovalGateOptions = {}) => {
    const call = { name: "bash", arguments: { command }, tool: bash };
    return (await approvalGate(options).explain(call)).decision;
  };
  for (
    const command of ["f=.en; cat ${f}v", "x=secret; cat $x/a", "ls -a | xargs cat", "grep -r K ."]
  ) {
    assertEquals(await explain(command), {
      type: "asked",
      cause: "command",
      reason: "The command may read files with secrets: it does not name all files that it reads.",
    });
  }
  const { type, rule } = await explain("ls | xargs cat", { classes: { execute: "auto" } });
  assertEquals([type, rule], ["approved", "execute: auto"]);
});

Deno.test("explain(): the reason of a dangerous command is that it is dangerous, also if its class is approved", async () => {
  const gate = approvalGate({ classes: { read: "auto" } });
  const call = { name: "bash", arguments: { command: "cat .env" }, tool: findTool("bash") };
  assertEquals((await gate.explain(call)).decision, {
    type: "asked",
    cause: "command",
    reason: 'The command is dangerous. It names ".env", which usually holds secrets.',
  });
});

Deno.test("getCommandRisk(): a comparison by git of directories outside the repository is not only reading", () => {
  for (const command of ["git diff src ../other", "git diff -- /usr .", "git diff .. ."]) {
    assertEquals(getCommandRisk(command), "execute", command);
  }
  for (
    const command of [
      "git diff main src",
      "git diff -- ../src",
      "git diff a..b",
      "git diff main -- ../src",
      "git diff src/a.ts ../other/a.ts",
    ]
  ) assertEquals(getCommandRisk(command), "read", command);
});

Deno.test("explain(): assesses a command, and no other call", async () => {
  const gate = approvalGate();
  const explainCall = (name: string, args: JsonObject) =>
    gate.explain({ name, arguments: args, tool: findTool(name) });
  const { assessment } = await explainCall("bash", { command: "sudo ls" });
  assertEquals(assessment?.verdict, "dangerous");
  assertEquals(Object.keys(await explainCall("bash", { command: "sudo ls" })).sort(), [
    "assessment",
    "decision",
    "risk",
  ]);
  assertEquals(Object.keys(await explainCall("write_file", { path: "a", content: "" })).sort(), [
    "decision",
    "risk",
  ]);
});

Deno.test("approvalGate(): trust in a tool of a server ends when the server changes the tool", async () => {
  const create = (name: string, description: string) =>
    defineTool({ name, description, parameters: { type: "object" }, execute: () => "" });
  const reasons: string[] = [];
  const gate = approvalGate({
    ask({ reason }) {
      reasons.push(reason);
      return { type: "approved", scope: "tool" };
    },
  });
  const decide = async (name: string, description: string) => {
    const tool = create(name, description);
    const { signal } = new AbortController();
    const answer = await gate({
      toolCallId: "1",
      name,
      arguments: {},
      tool,
      context: undefined,
      signal,
    });
    return answer.type === "approved" && answer.origin;
  };
  assertEquals(await decide("mcp__notes__add", "Adds a note."), "person");
  assertEquals(await decide("mcp__notes__add", "Adds a note."), "rule");
  assertEquals(await decide("mcp__notes__add", "Adds a note, with the key."), "person");
  assertEquals(await decide("mcp__notes__add", "Adds a note, with the key."), "rule");
  assertEquals(reasons[1], "The tool has changed since it was trusted in this session.");
  assertEquals(gate.trusted.length, 1);
  // A program removes another grant by adding the remaining ones again.
  const { trusted } = gate;
  gate.clearTrust();
  for (const grant of trusted) gate.trust(grant);
  assertEquals(await decide("mcp__notes__add", "Adds a note, with the key."), "rule");
  assertEquals(await decide("mcp__notes__add", "Sends the notes."), "person");
  // The description of a tool of the program may name its state.
  assertEquals(await decide("own", "One file."), "person");
  assertEquals(await decide("own", "Two files."), "rule");
});

Deno.test("approvalGate(): trust in a tool that changes nothing holds for no other tool of its name", async () => {
  const tool = (readOnly: boolean) =>
    defineTool({
      name: "bash",
      description: "",
      parameters: { type: "object" },
      readOnly,
      execute: () => "",
    });
  const gate = approvalGate({ ask: () => ({ type: "approved", scope: "tool" }) });
  const find = async (target: ApprovalGate, readOnly: boolean) => {
    const request = { name: "bash", arguments: { command: "cat $X" }, tool: tool(readOnly) };
    return (await target.explain(request)).decision.type;
  };
  const call = { toolCallId: "1", name: "bash", arguments: { command: "cat $X" } };
  const { signal } = new AbortController();
  await gate({ ...call, tool: tool(true), context: undefined, signal });
  assertEquals([await find(gate, true), await find(gate, false)], ["approved", "asked"]);
  // Also in a resumed session.
  const resumed = approvalGate();
  for (const grant of gate.trusted) resumed.trust(grant);
  assertEquals([await find(resumed, true), await find(resumed, false)], ["approved", "asked"]);
  await gate({ ...call, tool: tool(false), context: undefined, signal });
  assertEquals([await find(gate, true), await find(gate, false)], ["approved", "approved"]);
});
