/**
 * Attempts of a hostile command, one per name, which the escape tests run confined. Prints `blocked` with the error of
 * the system, or `ESCAPED`.
 *
 * @module
 */

const SYSCALLS = Deno.build.arch === "x86_64"
  ? {
    socket: 41,
    ptrace: 101,
    prlimit64: 302,
    setpriority: 141,
    sched_setscheduler: 144,
    keyctl: 250,
  }
  : {
    socket: 198,
    ptrace: 117,
    prlimit64: 261,
    setpriority: 140,
    sched_setscheduler: 119,
    keyctl: 219,
  };

const PTRACE_ATTACH = 16;
const IO_URING_SETUP = 425;
const AF_INET = 2;
const SOCK_STREAM = 1;
const IPPROTO_MPTCP = 262;
const MSG_FASTOPEN = 0x20000000;

const [attempt = "", ...args] = Deno.args;
const port = Number(args[0]);

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  tcp_connect: () => Deno.connect({ hostname: "127.0.0.1", port }),
  tcp_listen: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  udp_send: async () => {
    const socket = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
    await socket.send(new Uint8Array(1), { transport: "udp", hostname: "127.0.0.1", port });
  },
  unix_connect: () => Deno.connect({ transport: "unix", path: args[0] ?? "" }),
  unix_listen: () => Deno.listen({ transport: "unix", path: "own.sock" }),
  dns: () => Deno.resolveDns("example.org", "A", { nameServer: { ipAddr: "127.0.0.1", port } }),
  mptcp_socket: () => callSyscall("socket", AF_INET, SOCK_STREAM, IPPROTO_MPTCP),
  packet_socket: () => callSyscall("socket", 17, 3, 0),
  vsock_socket: () => callSyscall("socket", 40, SOCK_STREAM, 0),
  fast_open: () => {
    const socket = callSyscall("socket", AF_INET, SOCK_STREAM, 0);
    const address = new Uint8Array([
      AF_INET,
      0,
      port >> 8,
      port & 255,
      127,
      0,
      0,
      1,
      ...new Uint8Array(8),
    ]);
    const sent = loadLibc().symbols.sendto(socket, address, 1n, MSG_FASTOPEN, address, 16);
    if (sent < 0n) throw new Error("sendto failed");
  },
  io_uring: () => {
    const parameters = new Uint8Array(120);
    if (loadLibc().symbols.ioUringSetup(BigInt(IO_URING_SETUP), 4n, parameters) < 0n) {
      throw new Error("io_uring_setup failed");
    }
  },
  ptrace_parent: () => callSyscall("ptrace", PTRACE_ATTACH, Number(args[0]), 0),
  parent_memory: () => Deno.readTextFileSync(`/proc/${args[0]}/mem`),
  parent_environment: () => Deno.readTextFileSync(`/proc/${args[0]}/environ`),
  // Reads the limits, and sets the priority and the scheduler that the process has.
  limits_of_parent: () => callSyscall("prlimit64", Number(args[0]), 4, 0),
  priority_of_parent: () => callSyscall("setpriority", 0, Number(args[0]), 0),
  scheduler_of_parent: () => callSyscall("sched_setscheduler", Number(args[0]), 0, 0),
  keyring: () => callSyscall("keyctl", 0, -4, 1),
  own_priority: () => callSyscall("setpriority", 0, 0, 19),
  signal_parent: () => Deno.kill(Number(args[0]), "SIGCONT"),
  descriptors: () => {
    const open = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => {
      try {
        return Deno.readLinkSync(`/proc/self/fd/${name}`);
      } catch {
        return "";
      }
    });
    if (!open.some((target) => target.startsWith(args[0] ?? "?"))) {
      throw new Error("no inherited descriptor");
    }
  },
};

function loadLibc() {
  return Deno.dlopen("libc.so.6", {
    syscall: { parameters: ["i64", "i64", "i64", "i64", "i64"], result: "i64" },
    sendto: { parameters: ["i32", "buffer", "u64", "i32", "buffer", "u32"], result: "i64" },
    ioUringSetup: { name: "syscall", parameters: ["i64", "u64", "buffer"], result: "i64" },
  });
}

function callSyscall(
  name: keyof typeof SYSCALLS,
  first: number,
  second: number,
  third: number,
): number {
  const values = [SYSCALLS[name], first, second, third].map(BigInt) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const result = loadLibc().symbols.syscall(values[0], values[1], values[2], values[3], 0n);
  if (result < 0n) throw new Error(`${name} failed`);
  return Number(result);
}

try {
  await ATTEMPTS[attempt]?.();
  // Open sockets and listeners end with the process.
  console.log(`ESCAPED: ${attempt}`);
  Deno.exit(0);
} catch (error) {
  console.log(`blocked: ${error instanceof Error ? error.message : error}`);
  Deno.exit(0);
}
