/**
 * What a sandbox enforces, by whom, and what not at all.
 *
 * @module
 */

import type { KernelSupport } from "../confinement/confinement_policy.ts";
import type { Confinement } from "../confinement/confinement.ts";

/** Who sees to it that a rule is kept. */
export type EnforcedBy = "kernel" | "program" | "nobody";

/** One rule of a sandbox. */
export interface SandboxRule {
  /** What holds, or would have to. */
  readonly rule: string;
  /** Who enforces it: the kernel, on whatever a command does; this program, on its own tools; or nobody. */
  readonly enforcedBy: EnforcedBy;
  /** How, or why not. */
  readonly how: string;
}

/** What a sandbox enforces. */
export interface SandboxReport {
  /** Whether commands are confined as far as this program knows how; if not, approvals should be stricter. */
  readonly confined: boolean;
  /** What confines commands, for one line of a display. */
  readonly summary: string;
  /** Every rule. */
  readonly rules: readonly SandboxRule[];
}

/** What the report is about. */
export interface ReportedSandbox {
  /** The working directory. */
  readonly root: string;
  /** What commands may write. */
  readonly writable: readonly string[];
  /** What of the network is open. */
  readonly net: "on" | "off" | readonly string[];
  /** Whether Unix sockets are open. */
  readonly unixSockets: boolean;
}

/** Describes a sandbox under a confinement. */
export function createSandboxReport(
  sandbox: ReportedSandbox,
  confinement: Confinement,
): SandboxReport {
  const gaps = createKernelRules(sandbox, confinement).filter(({ enforcedBy }) =>
    enforcedBy === "nobody"
  );
  return {
    confined: gaps.length === 0,
    summary: createSummary(sandbox, confinement, gaps.length),
    rules: [
      ...createProgramRules(sandbox),
      ...createKernelRules(sandbox, confinement),
      ...UNENFORCED_RULES,
    ],
  };
}

function createSummary(
  { net }: ReportedSandbox,
  confinement: Confinement,
  gaps: number,
): string {
  const network = typeof net === "string" ? net : net.join(", ");
  const rest = gaps === 0 ? "" : `, ${gaps} ${gaps === 1 ? "rule" : "rules"} not enforced`;
  switch (confinement.type) {
    case "landlock":
      return `commands confined by ${
        formatKernelSupport(confinement.support)
      }, network ${network}${rest}`;
    case "seatbelt":
      return `commands confined by Seatbelt, network ${network}${rest}`;
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
      rule: `file tools read and write only in ${root} and the roots that were added`,
      enforcedBy: "program",
      how:
        "every path is resolved, links and all, when it is used, and what was opened is compared with it",
    },
    {
      rule: "file tools do not touch files that usually hold secrets, nor git's hooks and settings",
      enforcedBy: "program",
      how: "by name",
    },
    {
      rule: "commands get none of this program's environment but a list of harmless variables",
      enforcedBy: "program",
      how: "the environment is built anew",
    },
    {
      rule: "what a command starts ends with it",
      enforcedBy: "program",
      how: "its process group is ended, and processes with its mark in their environment",
    },
  ];
}

/** What nobody stops. */
const UNENFORCED_RULES: readonly SandboxRule[] = [
  {
    rule: "commands do not read secrets inside of the working directory",
    enforcedBy: "nobody",
    how: "the kernel grants a folder with all that is in it; only the command judge looks at names",
  },
  {
    rule: "a process that leaves its group and clears its environment ends with its command",
    enforcedBy: "nobody",
    how: "nothing marks it any more; it stays confined",
  },
  {
    rule: "commands do not change modes, owners and times of files elsewhere",
    enforcedBy: "nobody",
    how: "Landlock does not look at them; a command may change those of files that its user owns",
  },
  {
    rule: "commands use no more than a fair share of processor, memory and disk",
    enforcedBy: "nobody",
    how: "only their time is limited",
  },
];

function createKernelRules(sandbox: ReportedSandbox, confinement: Confinement): SandboxRule[] {
  const { writable, net, unixSockets } = sandbox;
  const kernel = createRuleFactories(confinement);
  const places = writable.filter((path) => !path.startsWith("/dev/")).join(", ");
  return [
    kernel.files(`commands write only in ${places}`),
    kernel.truncate("commands do not empty files elsewhere"),
    kernel.files("commands do not read keys and credentials in the home folder"),
    ...createNetworkRules(net, kernel),
    ...(unixSockets ? [] : [kernel.sockets("commands do not talk to daemons over Unix sockets")]),
    kernel.files("commands do not trace this program, nor read its memory and environment"),
    kernel.signals("commands do not send signals to other programs"),
  ];
}

function createNetworkRules(
  net: ReportedSandbox["net"],
  kernel: KernelRuleFactories,
): SandboxRule[] {
  if (net === "on") return [];
  if (net === "off") {
    return [
      kernel.tcp("commands make no TCP connections and accept none"),
      kernel.sockets("commands send nothing by UDP or any other protocol"),
    ];
  }
  return [
    kernel.tcp("commands make TCP connections only to the proxy's port"),
    kernel.sockets("commands send nothing by UDP or any other protocol"),
    {
      rule: `through the proxy only these hosts are reached: ${net.join(", ")}`,
      enforcedBy: "program",
      how:
        "best effort: the kernel knows ports, not machines, and the proxy sees names, not contents",
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
}

function createRuleFactories(confinement: Confinement): KernelRuleFactories {
  switch (confinement.type) {
    case "none": {
      const open = unenforced(confinement.reason);
      return { files: open, truncate: open, tcp: open, sockets: open, signals: open };
    }
    case "seatbelt": {
      const rule = enforcedByKernel("Seatbelt");
      return { files: rule, truncate: rule, tcp: rule, sockets: rule, signals: rule };
    }
    case "landlock": {
      const { landlock, seccomp } = confinement.support;
      const since = (version: number) =>
        landlock >= version ? enforcedByKernel("Landlock") : unenforced(
          `${
            landlock === 0 ? "there is no Landlock" : `Landlock ${landlock} cannot`
          }; version ${version} can`,
        );
      const sockets = seccomp
        ? enforcedByKernel("seccomp")
        : unenforced("no filters of system calls here");
      return {
        files: since(1),
        truncate: since(3),
        tcp: landlock < 4 && seccomp ? sockets : since(4),
        sockets,
        signals: since(6),
      };
    }
  }
}

function enforcedByKernel(how: string): RuleFactory {
  return (rule) => ({ rule, enforcedBy: "kernel", how });
}

function unenforced(how: string): RuleFactory {
  return (rule) => ({ rule, enforcedBy: "nobody", how });
}
