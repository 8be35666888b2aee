import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Confinement } from "../confinement/confinement.ts";
import { sandboxReport } from "./sandbox_report.ts";

const sandbox = {
  root: "/p",
  writable: ["/p", "/t", "/dev/null"],
  net: "off",
  unixSockets: false,
} as const;

const landlock = (version: number, seccomp = true): Confinement => ({
  type: "landlock",
  support: { landlock: version, seccomp },
});

const open = (confinement: Confinement, more: object = {}) =>
  sandboxReport({ ...sandbox, ...more }, confinement).rules
    .filter(({ enforcedBy, how }) =>
      enforcedBy === "nobody" && /version \d can|filters|switched|kernel has/.test(how)
    )
    .map(({ rule }) => rule);

Deno.test("a new kernel enforces every rule; an old one says which it does not", () => {
  assertEquals(open(landlock(7)), []);
  assertEquals(sandboxReport(sandbox, landlock(7)).confined, true);
  assertEquals(open(landlock(5)), ["commands do not send signals to other programs"]);
  assertEquals(open(landlock(2)), [
    "commands do not empty files elsewhere",
    "commands do not send signals to other programs",
  ]);
  assertEquals(open(landlock(3, false)).length, 4);
  assertEquals(open(landlock(0)).length, 5);
  assertStringIncludes(
    sandboxReport(sandbox, landlock(0)).summary,
    "by seccomp, network off, 5 rules",
  );
});

Deno.test("without confinement every rule of the kernel is enforced by nobody, and the summary shouts", () => {
  const none: Confinement = { type: "none", reason: "the kernel has no Landlock" };
  const { confined, summary } = sandboxReport(sandbox, none);
  assertEquals(confined, false);
  assertEquals(summary, "commands NOT confined: the kernel has no Landlock");
  assert(open(none).length >= 7);
});

Deno.test("a list of hosts is told as best effort; an open network has no rules about it", () => {
  const hosts = sandboxReport({ ...sandbox, net: ["a.test"] }, landlock(7));
  const rule = hosts.rules.find((each) => each.rule.includes("a.test"));
  assertEquals(rule?.enforcedBy, "program");
  assertStringIncludes(rule?.how ?? "", "best effort");
  const on = sandboxReport({ ...sandbox, net: "on", unixSockets: true }, landlock(7));
  assert(!on.rules.some((each) => /TCP|UDP|Unix/.test(each.rule)));
});

Deno.test("what nobody stops is always listed", () => {
  const { rules } = sandboxReport(sandbox, landlock(7));
  assertEquals(rules.filter(({ enforcedBy }) => enforcedBy === "nobody").length, 4);
});
