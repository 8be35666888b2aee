import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Confinement } from "../confinement/confinement.ts";
import { createSandboxReport } from "./sandbox_report.ts";

const sandbox = {
  root: "/p",
  writable: ["/p", "/t", "/dev/null"],
  containsHome: false,
  net: "off",
  unixSockets: false,
} as const;

const createLandlock = (version: number, seccomp = true): Confinement => ({
  type: "linux",
  support: { landlock: version, seccomp, mounts: "none" },
});

const findUnenforcedRules = (confinement: Confinement, settings: object = {}) =>
  createSandboxReport({ ...sandbox, ...settings }, confinement).rules
    .filter(({ enforcedBy, how }) => enforcedBy === "none" && /the kernel has/.test(how))
    .map(({ rule }) => rule);

Deno.test("createSandboxReport(): reports the rules that an old kernel cannot enforce, and none on a new one", () => {
  assertEquals(findUnenforcedRules(createLandlock(7)), []);
  assertEquals(
    [7, 5, 0].map((version) => createSandboxReport(sandbox, createLandlock(version)).status),
    ["confined", "partly_confined", "partly_confined"],
  );
  assertEquals(findUnenforcedRules(createLandlock(5)), [
    "commands do not send signals to other programs",
  ]);
  assertEquals(findUnenforcedRules(createLandlock(2)), [
    "commands do not truncate files outside the roots",
    "commands do not send signals to other programs",
  ]);
  assertEquals(findUnenforcedRules(createLandlock(3, false)).length, 5);
  assertEquals(findUnenforcedRules(createLandlock(0)).length, 6);
  assertStringIncludes(
    createSandboxReport(sandbox, createLandlock(0)).summary,
    "commands only PARTLY confined by seccomp, network off; not enforced: commands write only in /p, /t (and 5 more rules)",
  );
});

Deno.test("createSandboxReport(): without confinement no kernel rule is enforced, and the summary reports it", () => {
  const none: Confinement = { type: "none", reason: "the kernel has no Landlock" };
  const { confined, status, summary } = createSandboxReport(sandbox, none);
  assertEquals([confined, status], [false, "unconfined"]);
  assertEquals(summary, "commands NOT confined: the kernel has no Landlock");
  assert(findUnenforcedRules(none).length >= 7);
});

Deno.test("createSandboxReport(): reports a list of hosts as best effort, and no network rules when the network is on", () => {
  const hosts = createSandboxReport({ ...sandbox, net: ["a.test"] }, createLandlock(7));
  const rule = hosts.rules.find((candidate) => candidate.rule.includes("a.test"));
  assertEquals(rule?.enforcedBy, "program");
  assertStringIncludes(rule?.how ?? "", "best effort");
  const on = createSandboxReport({ ...sandbox, net: "on", unixSockets: true }, createLandlock(7));
  assert(!on.rules.some(({ rule }) => /TCP|UDP|Unix/.test(rule)));
});

Deno.test("createSandboxReport(): lists the five rules that are not enforced without namespaces, and the four with them", () => {
  const countUnenforced = (mounts: "direct" | "none") => {
    const support = { landlock: 7, seccomp: true, mounts };
    const { rules } = createSandboxReport(sandbox, { type: "linux", support });
    return rules.filter(({ enforcedBy }) => enforcedBy === "none").length;
  };
  assertEquals([countUnenforced("none"), countUnenforced("direct")], [5, 4]);
});

Deno.test("createSandboxReport(): Seatbelt confines commands, but does not cover the priorities of other programs", () => {
  const { confined, rules } = createSandboxReport(sandbox, { type: "seatbelt" });
  assertEquals(confined, true);
  assertEquals(rules.find(({ rule }) => rule.includes("priorities"))?.enforcedBy, "none");
});

Deno.test("createSandboxReport(): commands with the home directory in a root are not confined completely", () => {
  const report = createSandboxReport({ ...sandbox, containsHome: true }, createLandlock(7));
  assertEquals([report.status, report.confined], ["partly_confined", false]);
  assertStringIncludes(report.summary, "commands do not change the settings in the home directory");
});

Deno.test("createSandboxReport(): hooks and settings of git are read-only where the kernel can mount", () => {
  const getGitRule = (mounts: "direct" | "none") => {
    const support = { landlock: 7, seccomp: true, mounts };
    const { rules } = createSandboxReport(sandbox, { type: "linux", support });
    return rules.find(({ rule }) => rule.includes("git in the roots"));
  };
  assertEquals(getGitRule("direct")?.enforcedBy, "kernel");
  assertEquals(getGitRule("none")?.enforcedBy, "program");
  assertStringIncludes(getGitRule("none")?.how ?? "", "undone when the command ends");
});
