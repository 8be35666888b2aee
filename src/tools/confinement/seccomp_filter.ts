/**
 * Seccomp filters: programs that check the number and the arguments of every system call. The filter blocks the
 * connections that Landlock allows: UDP, raw and MPTCP sockets, Unix sockets, TCP Fast Open, and `io_uring`, which
 * creates sockets without a system call for each. It also blocks changes to the limits and the scheduling of other
 * processes, the keyrings of the user, characters pushed into a terminal, and on request all changes of modes, owners,
 * times and extended attributes.
 *
 * @module
 */

/** Supported architectures. */
export type Architecture = "x86_64" | "aarch64";

/** Rules of a filter. */
export interface FilterRules extends SocketRules {
  /** Whether modes, owners, times and extended attributes of files stay as they are. Default: `false`. */
  readonly keepsAttributes?: boolean;
}

/** Sockets that a filter allows. */
export interface SocketRules {
  /** `none`: no sockets. `tcp`: only TCP over IP. `ip`: all protocols over IP. */
  readonly sockets: "none" | "tcp" | "ip";
  /** Whether Unix sockets are allowed too; they connect to daemons that are not confined. */
  readonly unixSockets: boolean;
}

interface SyscallNumbers {
  /** `AUDIT_ARCH_*`: the numbers differ between instruction sets. */
  readonly audit: number;
  readonly socket: number;
  readonly sendto: number;
  readonly sendmsg: number;
  readonly sendmmsg: number;
  readonly ioctl: number;
  readonly setpriority: number;
  readonly ioprio_set: number;
  /** Calls whose first argument is a process or thread, or 0 for the caller, which they change. */
  readonly processSetters: readonly number[];
  /** `add_key`, `request_key` and `keyctl`. */
  readonly keyrings: readonly number[];
  /** Calls that change the mode, the owner, the times or the extended attributes of a file. */
  readonly attributeSetters: readonly number[];
}

/**
 * The process setters are `prlimit64`, `sched_setparam`, `sched_setscheduler`, `sched_setaffinity` and `sched_setattr`; the
 * attribute setters `chmod`, `fchmod`, `fchmodat`, `chown`, `fchown`, `lchown`, `fchownat`, `utime`, `utimes`, `futimesat`,
 * `utimensat`, `setxattr`, `lsetxattr`, `fsetxattr`, `removexattr`, `lremovexattr` and `fremovexattr`, as far as an
 * architecture has them.
 */
const SYSCALL_NUMBERS: Readonly<Record<Architecture, SyscallNumbers>> = {
  x86_64: {
    audit: 0xc000003e,
    socket: 41,
    sendto: 44,
    sendmsg: 46,
    sendmmsg: 307,
    ioctl: 16,
    setpriority: 141,
    ioprio_set: 251,
    processSetters: [302, 142, 144, 203, 314],
    keyrings: [248, 249, 250],
    attributeSetters: [
      ...[90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280],
      ...[188, 189, 190, 197, 198, 199],
    ],
  },
  aarch64: {
    audit: 0xc00000b7,
    socket: 198,
    sendto: 206,
    sendmsg: 211,
    sendmmsg: 269,
    ioctl: 29,
    setpriority: 140,
    ioprio_set: 30,
    processSetters: [261, 118, 119, 122, 274],
    keyrings: [217, 218, 219],
    attributeSetters: [52, 53, 54, 55, 88, 5, 6, 7, 14, 15, 16],
  },
};

/** Number of `io_uring_setup`, the same on both architectures. */
const IO_URING_SETUP = 425;

/** `fchmodat2`, `setxattrat`, `removexattrat` and `file_setattr`, the same on both architectures. */
const NEW_ATTRIBUTE_SETTERS: readonly number[] = [452, 463, 466, 469];

/** First number of the x32 system calls, which x86-64 kernels may accept. */
const X32_SYSCALL_BASE = 0x40000000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const IPPROTO_TCP = 6;
const MSG_FASTOPEN = 0x20000000;

/** Requests that push characters into the input of a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** `FS_IOC_SETFLAGS`, `FS_IOC32_SETFLAGS`, `FS_IOC_SETVERSION` and `FS_IOC_FSSETXATTR`. */
const ATTRIBUTE_REQUESTS: readonly number[] = [0x40086602, 0x40046602, 0x40087602, 0x401c5820];

/** All processes of a user, as the first argument of `setpriority` and `ioprio_set`. */
const PRIO_USER = 2;
const IOPRIO_WHO_USER = 3;

/** Offsets in `struct seccomp_data`; only the lower half of the 64-bit arguments is checked. */
const SYSCALL_NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const getArgumentOffset = (index: number): number => 16 + 8 * index;

/** Return values of the filter. */
const SECCOMP_RET_ALLOW = 0x7fff0000;
const SECCOMP_RET_ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;

/** An instruction of classic BPF, or a label as the target of jumps. */
type FilterInstruction =
  | { readonly op: "load"; readonly offset: number }
  | { readonly op: "and"; readonly mask: number }
  | {
    readonly op: "jump_if";
    readonly test: "equal" | "at_least" | "any_bit";
    readonly value: number;
    readonly then?: string;
    readonly otherwise?: string;
  }
  | { readonly op: "return"; readonly value: number }
  | { readonly op: "label"; readonly name: string };

/** Creates a filter as an array of `struct sock_filter`. */
export function createSeccompFilter(architecture: Architecture, rules: FilterRules): Uint8Array {
  const { keepsAttributes = false } = rules;
  return assembleFilter([
    ...createSyscallChecks(architecture, keepsAttributes),
    ...createSocketChecks(rules),
    ...createProcessChecks(),
    ...createRequestChecks(keepsAttributes),
    ...createReturns(),
  ]);
}

function createSyscallChecks(
  architecture: Architecture,
  keepsAttributes: boolean,
): FilterInstruction[] {
  const numbers = SYSCALL_NUMBERS[architecture];
  const refused = keepsAttributes ? [...numbers.attributeSetters, ...NEW_ATTRIBUTE_SETTERS] : [];
  const x32: FilterInstruction[] = architecture === "x86_64"
    ? [{ op: "jump_if", test: "at_least", value: X32_SYSCALL_BASE, then: "refuse" }]
    : [];
  const jumpIfAny = (values: readonly number[], then: string) =>
    values.map((value): FilterInstruction => ({ op: "jump_if", test: "equal", value, then }));
  return [
    { op: "load", offset: ARCHITECTURE_OFFSET },
    { op: "jump_if", test: "equal", value: numbers.audit, otherwise: "refuse" },
    { op: "load", offset: SYSCALL_NUMBER_OFFSET },
    ...x32,
    { op: "jump_if", test: "equal", value: numbers.socket, then: "socket" },
    ...jumpIfAny([IO_URING_SETUP, ...numbers.keyrings], "missing"),
    ...jumpIfAny(refused, "refuse"),
    ...jumpIfAny(numbers.processSetters, "process in argument 0"),
    ...jumpIfAny([numbers.setpriority], "setpriority"),
    ...jumpIfAny([numbers.ioprio_set], "ioprio_set"),
    ...jumpIfAny([numbers.ioctl], "ioctl"),
    { op: "jump_if", test: "equal", value: numbers.sendto, then: "flags in argument 3" },
    { op: "jump_if", test: "equal", value: numbers.sendmmsg, then: "flags in argument 3" },
    { op: "jump_if", test: "equal", value: numbers.sendmsg, then: "flags in argument 2" },
    { op: "return", value: SECCOMP_RET_ALLOW },
    { op: "label", name: "flags in argument 3" },
    { op: "load", offset: getArgumentOffset(3) },
    { op: "jump_if", test: "any_bit", value: MSG_FASTOPEN, then: "refuse", otherwise: "allow" },
    { op: "label", name: "flags in argument 2" },
    { op: "load", offset: getArgumentOffset(2) },
    { op: "jump_if", test: "any_bit", value: MSG_FASTOPEN, then: "refuse", otherwise: "allow" },
  ];
}

/** Checks `socket(domain, type, protocol)`. */
function createSocketChecks({ sockets, unixSockets }: SocketRules): FilterInstruction[] {
  const ipTarget = sockets === "ip" ? "allow" : "tcp";
  const ip = [AF_INET, AF_INET6].map((value): FilterInstruction => (
    { op: "jump_if", test: "equal", value, then: ipTarget }
  ));
  const unix: FilterInstruction[] = unixSockets
    ? [{ op: "jump_if", test: "equal", value: AF_UNIX, then: "allow" }]
    : [];
  return [
    { op: "label", name: "socket" },
    { op: "load", offset: getArgumentOffset(0) },
    // Programs query the names of network interfaces over netlink.
    { op: "jump_if", test: "equal", value: AF_NETLINK, then: "netlink" },
    ...unix,
    ...(sockets === "none" ? [] : ip),
    { op: "return", value: SECCOMP_RET_ERRNO | EPERM },
    { op: "label", name: "netlink" },
    { op: "load", offset: getArgumentOffset(2) },
    { op: "jump_if", test: "equal", value: 0, then: "allow", otherwise: "refuse" },
    ...(sockets === "tcp" ? createTcpChecks() : []),
  ];
}

/** Allows plain TCP only: Multipath TCP is another protocol, which Landlock does not check. */
function createTcpChecks(): FilterInstruction[] {
  return [
    { op: "label", name: "tcp" },
    { op: "load", offset: getArgumentOffset(1) },
    { op: "and", mask: SOCK_TYPE_MASK },
    { op: "jump_if", test: "equal", value: SOCK_STREAM, otherwise: "refuse" },
    { op: "load", offset: getArgumentOffset(2) },
    { op: "jump_if", test: "equal", value: 0, then: "allow" },
    { op: "jump_if", test: "equal", value: IPPROTO_TCP, then: "allow", otherwise: "refuse" },
  ];
}

/** Lets a process change only itself: its own limits, scheduling and priority. */
function createProcessChecks(): FilterInstruction[] {
  return [
    { op: "label", name: "process in argument 0" },
    { op: "load", offset: getArgumentOffset(0) },
    { op: "jump_if", test: "equal", value: 0, then: "allow", otherwise: "refuse" },
    { op: "label", name: "setpriority" },
    { op: "load", offset: getArgumentOffset(0) },
    {
      op: "jump_if",
      test: "equal",
      value: PRIO_USER,
      then: "refuse",
      otherwise: "process in argument 1",
    },
    { op: "label", name: "ioprio_set" },
    { op: "load", offset: getArgumentOffset(0) },
    { op: "jump_if", test: "equal", value: IOPRIO_WHO_USER, then: "refuse" },
    { op: "label", name: "process in argument 1" },
    { op: "load", offset: getArgumentOffset(1) },
    { op: "jump_if", test: "equal", value: 0, then: "allow", otherwise: "refuse" },
  ];
}

/** Checks the request of `ioctl()`. */
function createRequestChecks(keepsAttributes: boolean): FilterInstruction[] {
  const refused = [TIOCSTI, TIOCLINUX, ...(keepsAttributes ? ATTRIBUTE_REQUESTS : [])];
  return [
    { op: "label", name: "ioctl" },
    { op: "load", offset: getArgumentOffset(1) },
    ...refused.map((value): FilterInstruction => (
      { op: "jump_if", test: "equal", value, then: "refuse" }
    )),
    { op: "return", value: SECCOMP_RET_ALLOW },
  ];
}

function createReturns(): FilterInstruction[] {
  return [
    { op: "label", name: "allow" },
    { op: "return", value: SECCOMP_RET_ALLOW },
    { op: "label", name: "missing" },
    // On ENOSYS, programs fall back to other system calls, or do without.
    { op: "return", value: SECCOMP_RET_ERRNO | ENOSYS },
    { op: "label", name: "refuse" },
    { op: "return", value: SECCOMP_RET_ERRNO | EPERM },
  ];
}

const OPCODES = {
  load: 0x20,
  and: 0x54,
  equal: 0x15,
  at_least: 0x35,
  any_bit: 0x45,
  return: 0x06,
} as const;

const INSTRUCTION_BYTES = 8;

function assembleFilter(steps: readonly FilterInstruction[]): Uint8Array {
  const labels = new Map<string, number>();
  const instructions: Exclude<FilterInstruction, { readonly op: "label" }>[] = [];
  for (const step of steps) {
    if (step.op === "label") labels.set(step.name, instructions.length);
    else instructions.push(step);
  }
  const view = new DataView(new ArrayBuffer(instructions.length * INSTRUCTION_BYTES));
  const write = (
    index: number,
    code: number,
    k: number,
    jumps: readonly [number, number] = [0, 0],
  ) => {
    const offset = index * INSTRUCTION_BYTES;
    view.setUint16(offset, code, true);
    view.setUint8(offset + 2, jumps[0]);
    view.setUint8(offset + 3, jumps[1]);
    view.setUint32(offset + 4, k, true);
  };
  for (const [index, step] of instructions.entries()) {
    const jumpTo = (label: string | undefined) =>
      label === undefined ? 0 : (labels.get(label) ?? 0) - index - 1;
    switch (step.op) {
      case "load":
        write(index, OPCODES.load, step.offset);
        break;
      case "and":
        write(index, OPCODES.and, step.mask);
        break;
      case "jump_if":
        write(index, OPCODES[step.test], step.value, [jumpTo(step.then), jumpTo(step.otherwise)]);
        break;
      case "return":
        write(index, OPCODES.return, step.value);
        break;
    }
  }
  return new Uint8Array(view.buffer);
}
