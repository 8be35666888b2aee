/**
 * Report of the rules of a sandbox: which are enforced by the kernel, which by this program, and which are not.
 *
 * @module
 */

import { canProtectPaths, type Confinement } from "../confinement/confinement.ts";
import type { KernelSupport } from "../confinement/confinement_policy.ts";

/** The part that enforces a rule: the kernel on all commands, this program on its own tools, or none. */
export type EnforcedBy = "kernel" | "program" | "none";

/** One rule of a sandbox. */
export interface SandboxRule {
  /** The rule as a sentence without a period. */
  readonly rule: string;
  /** The part that enforces it. */
  readonly enforcedBy: EnforcedBy;
  /** Mechanism that enforces it, or the reason why it is not enforced. */
  readonly how: string;
}

/**
 * Confinement of commands: the kernel enforces all rules for them, some of them, or none, because it cannot or because
 * confinement is off.
 */
export type SandboxStatus = "confined" | "partly_confined" | "unconfined";

/** The rules of a sandbox. */
export interface SandboxReport {
  /** Confinement of commands. */
  readonly status: SandboxStatus;
  /** Whether the status is `confined`; if not, approvals should be stricter. */
  readonly confined: boolean;
  /** Summary of the confinement in one line. */
  readonly summary: string;
  /** The mechanisms of the kernel that confine commands, such as `Landlock` and `seccomp`. */
  readonly mechanisms: readonly string[];
  /** All rules, enforced or not. */
  readonly rules: readonly SandboxRule[];
}

/** The settings of a sandbox that a report describes. */
export interface ReportedSandbox {
  /** Working directory. */
  readonly root: string;
  /** Paths that commands may write. */
  readonly writable: readonly string[];
  /** Whether one of the paths contains the home directory. */
  readonly containsHome: boolean;
  /** Network access of commands. */
  readonly net: "on" | "off" | readonly string[];
  /** Whether commands may use Unix sockets. */
  readonly unixSockets: boolean;
  /** Whether commands keep the modes, owners and times of files. Default: `false`. */
  readonly keepsAttributes?: boolean;
  /** Whether commands cannot read the files with secrets in the roots. Default: `false`. */
  readonly hidesSecrets?: boolean;
}

/** Creates the report of a sandbox under a confinement. */
export function createSandboxReport(
  sandbox: ReportedSandbox,
  confinement: Confinement,
): SandboxReport {
  const kernelRules = createKernelRules(sandbox, confinement);
  const gaps = kernelRules.filter(({ enforcedBy }) => enforcedBy === "none");
  return {
    status: getStatus(confinement, gaps),
    confined: gaps.length === 0,
    summary: createSummary(sandbox, confinement, gaps),
    mechanisms: listMechanisms(confinement),
    rules: [
      ...createProgramRules(sandbox),
      ...kernelRules,
      createGitRule(confinement),
      createSharedMemoryRule(confinement),
      ...(confinement.type === "seatbelt" ? [SEATBELT_GAP] : []),
      ...(sandbox.keepsAttributes ? [] : [ATTRIBUTE_GAP]),
      ...(sandbox.hidesSecrets ? [] : [SECRETS_GAP]),
      ...UNENFORCED_RULES,
    ],
  };
}

function getStatus(confinement: Confinement, gaps: readonly SandboxRule[]): SandboxStatus {
  if (confinement.type === "none") return "unconfined";
  return gaps.length === 0 ? "confined" : "partly_confined";
}

function listMechanisms(confinement: Confinement): string[] {
  switch (confinement.type) {
    case "linux": {
      const { landlock, seccomp, mounts } = confinement.support;
      return [
        ...(landlock > 0 ? ["Landlock"] : []),
        ...(seccomp ? ["seccomp"] : []),
        ...(mounts === "none" ? [] : ["namespace"]),
      ];
    }
    case "seatbelt":
      return ["Seatbelt"];
    case "none":
      return [];
  }
}

function createSummary(
  { net }: ReportedSandbox,
  confinement: Confinement,
  gaps: readonly SandboxRule[],
): string {
  const network = `network ${typeof net === "string" ? net : net.join(", ")}`;
  const [gap, ...others] = gaps;
  const confined = gap ? "commands only PARTLY confined" : "commands confined";
  const more = others.length === 0 ? "" : ` (and ${others.length} more rules)`;
  const gapNotice = gap ? `; not enforced: ${gap.rule}${more}` : "";
  switch (confinement.type) {
    case "linux":
      return `${confined} by ${formatKernelSupport(confinement.support)}, ${network}${gapNotice}`;
    case "seatbelt":
      return `${confined} by Seatbelt, ${network}${gapNotice}`;
    case "none":
      return `commands NOT confined: ${confinement.reason}`;
  }
}

function formatKernelSupport({ landlock, seccomp }: KernelSupport): string {
  const names = [
    ...(landlock > 0 ? [`Landlock ${landlock}`] : []),
    ...(seccomp ? ["seccomp"] : []),
  ];
  return names.join(" and ");
}

function createProgramRules({ root }: ReportedSandbox): SandboxRule[] {
  return [
    {
      rule: `file tools read and write only in ${root} and the added roots`,
      enforcedBy: "program",
      how:
        "every path is resolved with its links on each use, and the opened file is compared with it",
    },
    {
      rule:
        "file tools do not use files that usually hold secrets, nor write the hooks and settings of git",
      enforcedBy: "program",
      how: "by the name of the file",
    },
    {
      rule: "commands get only a list of harmless variables from the environment of this program",
      enforcedBy: "program",
      how: "the environment is created from the list",
    },
    {
      rule: "processes that a command starts end with it",
      enforcedBy: "program",
      how: "its process group is ended, and every process with its mark in the environment",
    },
  ];
}

function createGitRule(confinement: Confinement): SandboxRule {
  const rule = "commands do not change the hooks and settings of git in the roots";
  if (!canProtectPaths(confinement)) {
    return { rule, enforcedBy: "program", how: "changes are undone when the command ends" };
  }
  const how = "they are read-only, and added ones are removed when the command ends";
  return { rule, enforcedBy: "kernel", how };
}

function createSharedMemoryRule(confinement: Confinement): SandboxRule {
  const rule = "commands do not use the shared memory and the message queues of other programs";
  return confinement.type === "linux" && confinement.support.mounts !== "none"
    ? { rule, enforcedBy: "kernel", how: "a namespace" }
    : { rule, enforcedBy: "none", how: "commands have no namespace" };
}

const ATTRIBUTE_GAP: SandboxRule = {
  rule: "commands do not change modes, owners and times of files outside the roots",
  enforcedBy: "none",
  how: "Landlock does not cover them; commands may change those of files that the user owns",
};

const SECRETS_RULE = "commands do not read secrets inside the working directory";

const SECRETS_GAP: SandboxRule = {
  rule: SECRETS_RULE,
  enforcedBy: "none",
  how: "they need some of these files; only the assessment of commands checks names",
};

const UNENFORCED_RULES: readonly SandboxRule[] = [
  {
    rule: "a process that leaves its group and clears its environment ends with its command",
    enforcedBy: "none",
    how: "it cannot be identified; it stays confined",
  },
  {
    rule: "commands use a limited share of processor, memory and disk",
    enforcedBy: "none",
    how: "only the run time is limited",
  },
];

const HOME_GAP: SandboxRule = {
  rule: "commands do not change the settings in the home directory",
  enforcedBy: "none",
  how: "the home directory lies in a root",
};

const PROCESS_RULE =
  "commands do not change the limits and priorities of other programs, nor use the keyrings of the user";

const SEATBELT_GAP: SandboxRule = {
  rule: PROCESS_RULE,
  enforcedBy: "none",
  how: "Seatbelt does not cover priorities",
};

function createKernelRules(sandbox: ReportedSandbox, confinement: Confinement): SandboxRule[] {
  const { writable, net, unixSockets, keepsAttributes } = sandbox;
  const kernel = createRuleFactories(confinement);
  const directories = writable.filter((path) => !path.startsWith("/dev/")).join(", ");
  return [
    kernel.files(directories ? `commands write only in ${directories}` : "commands write no files"),
    ...(keepsAttributes
      ? [kernel.attributes("commands do not change modes, owners and times of files")]
      : []),
    kernel.truncate("commands do not truncate files outside the roots"),
    kernel.files("commands do not read keys and credentials in the home directory"),
    ...(sandbox.hidesSecrets ? [kernel.files(SECRETS_RULE)] : []),
    ...createNetworkRules(net, kernel),
    ...(unixSockets
      ? []
      : [kernel.sockets("commands do not connect to daemons over Unix sockets")]),
    kernel.files("commands do not trace this program, nor read its memory or environment"),
    kernel.signals("commands do not send signals to other programs"),
    kernel.files("commands do not use terminals"),
    ...(sandbox.containsHome ? [HOME_GAP] : []),
    ...(confinement.type === "seatbelt" ? [] : [kernel.sockets(PROCESS_RULE)]),
  ];
}

function createNetworkRules(
  net: ReportedSandbox["net"],
  kernel: KernelRuleFactories,
): SandboxRule[] {
  if (net === "on") return [];
  if (net === "off") {
    return [
      kernel.tcp("commands do not open or accept TCP connections"),
      kernel.sockets("commands send no data over UDP or other protocols"),
    ];
  }
  return [
    kernel.tcp("commands open TCP connections only to the port of the proxy"),
    kernel.sockets("commands send no data over UDP or other protocols"),
    {
      rule: `the proxy connects only to these hosts: ${net.join(", ")}`,
      enforcedBy: "program",
      how:
        "best effort: the kernel checks ports, not hosts, and the proxy sees host names, not content",
    },
  ];
}

type RuleFactory = (rule: string) => SandboxRule;

interface KernelRuleFactories {
  readonly files: RuleFactory;
  readonly truncate: RuleFactory;
  readonly tcp: RuleFactory;
  readonly sockets: RuleFactory;
  readonly signals: RuleFactory;
  /** Modes, owners, times and extended attributes. */
  readonly attributes: RuleFactory;
}

function createRuleFactories(confinement: Confinement): KernelRuleFactories {
  switch (confinement.type) {
    case "none":
      return createEqualFactories(unenforced(confinement.reason));
    case "seatbelt":
      return createEqualFactories(enforcedByKernel("Seatbelt"));
    case "linux": {
      const { landlock, seccomp } = confinement.support;
      const since = (version: number) =>
        landlock >= version ? enforcedByKernel("Landlock") : unenforced(
          `${
            landlock === 0 ? "the kernel has no Landlock" : `the kernel has Landlock ${landlock}`
          }; version ${version} is needed`,
        );
      const sockets = seccomp
        ? enforcedByKernel("seccomp")
        : unenforced("the kernel has no seccomp filters");
      return {
        files: since(1),
        truncate: since(3),
        tcp: landlock < 4 && seccomp ? sockets : since(4),
        sockets,
        signals: since(6),
        attributes: sockets,
      };
    }
  }
}

function createEqualFactories(rule: RuleFactory): KernelRuleFactories {
  return { files: rule, truncate: rule, tcp: rule, sockets: rule, signals: rule, attributes: rule };
}

function enforcedByKernel(mechanism: string): RuleFactory {
  return (rule) => ({ rule, enforcedBy: "kernel", how: mechanism });
}

function unenforced(reason: string): RuleFactory {
  return (rule) => ({ rule, enforcedBy: "none", how: reason });
}
