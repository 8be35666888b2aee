import { assertEquals } from "@std/assert";
import { formatHeader } from "./header.ts";
import type { RunStart } from "./reporter.ts";

const MODEL = { provider: "any", modelId: "model", thinkingLevel: "off" } as const;

/** Formats a header for the home directory `/home/eva`. */
function format(start: Partial<RunStart>, columns = 200): string[] {
  return formatHeader({
    version: "1.0.0",
    cwd: "/home/eva/project",
    model: MODEL,
    tools: [],
    approvalMode: "smart",
    isInteractive: true,
    net: "off",
    sandbox: { status: "confined", mechanisms: ["seccomp"] },
    sessionId: null,
    project: { root: "/home/eva/project", loaded: [], ignored: [] },
    ...start,
  }, { home: "/home/eva", columns });
}

/** Returns one field of a header. */
function getField(index: number, start: Partial<RunStart>): string | undefined {
  return format(start)[0]?.split(" · ")[index];
}

Deno.test("formatHeader(): shows model, directory, approval, network and confinement", () => {
  assertEquals(format({}), ["any/model · ~/project · asks first · net off · sandbox seccomp"]);
});

Deno.test("formatHeader(): shows the thinking level of the model", () => {
  assertEquals(getField(0, { model: { ...MODEL, thinkingLevel: "high" } }), "any/model:high");
  assertEquals(getField(0, { model: MODEL }), "any/model");
});

Deno.test("formatHeader(): abbreviates the home directory only", () => {
  assertEquals(getField(1, { cwd: "/home/eva" }), "~");
  assertEquals(getField(1, { cwd: "/home/evamaria/x" }), "/home/evamaria/x");
  assertEquals(getField(1, { cwd: "/home/a\n\x1b[2Jb" }), "/home/a b");
});

Deno.test("formatHeader(): shows how calls are approved, and the hosts of commands", () => {
  assertEquals(getField(2, { approvalMode: "bypassed" }), "approves all");
  assertEquals(getField(2, { isInteractive: false }), "refuses what needs approval");
  assertEquals(getField(3, { net: ["a.example", "b.example"] }), "net a.example, b.example");
  for (const status of ["off", "unconfined"] as const) {
    const sandbox = { status, mechanisms: [] };
    assertEquals(getField(3, { net: "off", sandbox }), "net on");
    assertEquals(getField(3, { net: ["a.example"], sandbox }), "net on");
  }
});

Deno.test("formatHeader(): shows what confines commands", () => {
  const mechanisms = ["Landlock", "seccomp"];
  const show = (status: RunStart["sandbox"]["status"]) =>
    getField(4, { sandbox: { status, mechanisms: status === "unconfined" ? [] : mechanisms } });
  assertEquals(show("confined"), "sandbox Landlock+seccomp");
  assertEquals(show("partly_confined"), "sandbox Landlock+seccomp (incomplete)");
  assertEquals(show("unconfined"), "sandbox none");
  assertEquals(show("off"), "sandbox off");
});

Deno.test("formatHeader(): breaks between fields, and truncates a field that is too long", () => {
  assertEquals(format({}, 30), [
    "any/model · ~/project",
    "asks first · net off",
    "sandbox seccomp",
  ]);
  assertEquals(format({ cwd: `/${"a".repeat(40)}` }, 20)[1], `/${"a".repeat(18)}…`);
});

Deno.test("formatHeader(): names the files of the project that are loaded, and those that are not", () => {
  const root = "/home/eva/project";
  const loaded = { root, loaded: ["AGENTS.md", ".swink/config.toml"], ignored: [] };
  assertEquals(getField(5, { project: loaded }), "AGENTS.md, .swink/config.toml");
  const ignored = { root, loaded: [], ignored: ["AGENTS.md"] };
  const many = { root, loaded: [], ignored: Array(20).fill("AGENTS.md") };
  assertEquals(format({ project: many }, 40).at(-1), "not loaded (--trust): AGENTS.md, AGENTS…");
  assertEquals(getField(5, { project: ignored }), "not loaded (--trust): AGENTS.md");
});
