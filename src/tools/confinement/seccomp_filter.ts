/**
 * A seccomp filter as the kernel takes it: a small program that looks at the number and the arguments of every system
 * call. It closes the ways to other machines and other programs that Landlock leaves open: UDP, raw and MPTCP sockets,
 * Unix sockets, TCP Fast Open, and `io_uring`, which makes sockets without a system call of their own.
 *
 * @module
 */

/** Which machines a filter knows. */
export type Architecture = "x86_64" | "aarch64";

/** What of the network a filter leaves open. */
export interface SocketRules {
  /** `none`: no sockets at all. `tcp`: TCP over IP alone. `ip`: everything over IP. */
  readonly sockets: "none" | "tcp" | "ip";
  /** Whether Unix sockets may be made as well; through them a program reaches daemons that are not confined. */
  readonly unixSockets: boolean;
}

interface SyscallNumbers {
  /** `AUDIT_ARCH_*`: a call from another instruction set has other numbers. */
  readonly audit: number;
  readonly socket: number;
  readonly sendto: number;
  readonly sendmsg: number;
  readonly sendmmsg: number;
}

const SYSCALL_NUMBERS: Readonly<Record<Architecture, SyscallNumbers>> = {
  x86_64: { audit: 0xc000003e, socket: 41, sendto: 44, sendmsg: 46, sendmmsg: 307 },
  aarch64: { audit: 0xc00000b7, socket: 198, sendto: 206, sendmsg: 211, sendmmsg: 269 },
};

/** The same on both. */
const IO_URING_SETUP = 425;

/** x86-64 kernels may take calls of the x32 kind, whose numbers begin here. */
const X32_SYSCALL_BASE = 0x40000000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const IPPROTO_TCP = 6;
const MSG_FASTOPEN = 0x20000000;

/** Offsets in `struct seccomp_data`; of the 64-bit arguments the lower half is looked at. */
const SYSCALL_NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
const getArgumentOffset = (index: number): number => 16 + 8 * index;

/** What the filter answers. */
const SECCOMP_RET_ALLOW = 0x7fff0000;
const SECCOMP_RET_ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;

/** One instruction of classic BPF; jumps are to labels, which stand for themselves. */
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
  | { readonly op: "answer"; readonly value: number }
  | { readonly op: "label"; readonly name: string };

/** Builds the filter: `struct sock_filter` after `struct sock_filter`. */
export function createSeccompFilter(architecture: Architecture, rules: SocketRules): Uint8Array {
  return assembleFilter([
    ...createSyscallChecks(SYSCALL_NUMBERS[architecture], architecture),
    ...createSocketChecks(rules),
    ...createReturns(),
  ]);
}

function createSyscallChecks(
  numbers: SyscallNumbers,
  architecture: Architecture,
): FilterInstruction[] {
  const x32: FilterInstruction[] = architecture === "x86_64"
    ? [{ op: "jump_if", test: "at_least", value: X32_SYSCALL_BASE, then: "refuse" }]
    : [];
  return [
    { op: "load", offset: ARCHITECTURE_OFFSET },
    { op: "jump_if", test: "equal", value: numbers.audit, otherwise: "refuse" },
    { op: "load", offset: SYSCALL_NUMBER_OFFSET },
    ...x32,
    { op: "jump_if", test: "equal", value: numbers.socket, then: "socket" },
    { op: "jump_if", test: "equal", value: IO_URING_SETUP, then: "missing" },
    { op: "jump_if", test: "equal", value: numbers.sendto, then: "flags in argument 3" },
    { op: "jump_if", test: "equal", value: numbers.sendmmsg, then: "flags in argument 3" },
    { op: "jump_if", test: "equal", value: numbers.sendmsg, then: "flags in argument 2" },
    { op: "answer", value: SECCOMP_RET_ALLOW },
    { op: "label", name: "flags in argument 3" },
    { op: "load", offset: getArgumentOffset(3) },
    { op: "jump_if", test: "any_bit", value: MSG_FASTOPEN, then: "refuse", otherwise: "allow" },
    { op: "label", name: "flags in argument 2" },
    { op: "load", offset: getArgumentOffset(2) },
    { op: "jump_if", test: "any_bit", value: MSG_FASTOPEN, then: "refuse", otherwise: "allow" },
  ];
}

/** `socket(domain, type, protocol)` */
function createSocketChecks({ sockets, unixSockets }: SocketRules): FilterInstruction[] {
  const isIp = (then: string): FilterInstruction[] =>
    [AF_INET, AF_INET6].map((value) => ({ op: "jump_if", test: "equal", value, then }));
  const unix: FilterInstruction[] = unixSockets
    ? [{ op: "jump_if", test: "equal", value: AF_UNIX, then: "allow" }]
    : [];
  return [
    { op: "label", name: "socket" },
    { op: "load", offset: getArgumentOffset(0) },
    // Programs ask the kernel over netlink for the names of network interfaces.
    { op: "jump_if", test: "equal", value: AF_NETLINK, then: "netlink" },
    ...unix,
    ...(sockets === "none" ? [] : isIp(sockets === "ip" ? "allow" : "tcp")),
    { op: "answer", value: SECCOMP_RET_ERRNO | EPERM },
    { op: "label", name: "netlink" },
    { op: "load", offset: getArgumentOffset(2) },
    { op: "jump_if", test: "equal", value: 0, then: "allow", otherwise: "refuse" },
    ...(sockets === "tcp" ? createTcpChecks() : []),
  ];
}

/** Multipath TCP is a stream of another protocol, which Landlock does not see. */
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

function createReturns(): FilterInstruction[] {
  return [
    { op: "label", name: "allow" },
    { op: "answer", value: SECCOMP_RET_ALLOW },
    { op: "label", name: "missing" },
    // "No such call": programs then do without it.
    { op: "answer", value: SECCOMP_RET_ERRNO | ENOSYS },
    { op: "label", name: "refuse" },
    { op: "answer", value: SECCOMP_RET_ERRNO | EPERM },
  ];
}

const OPCODES = {
  load: 0x20,
  and: 0x54,
  equal: 0x15,
  at_least: 0x35,
  any_bit: 0x45,
  answer: 0x06,
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
    const at = index * INSTRUCTION_BYTES;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, jumps[0]);
    view.setUint8(at + 3, jumps[1]);
    view.setUint32(at + 4, k, true);
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
      case "answer":
        write(index, OPCODES.answer, step.value);
        break;
    }
  }
  return new Uint8Array(view.buffer);
}
