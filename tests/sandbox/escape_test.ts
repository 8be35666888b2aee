/**
 * Attempts to escape the sandbox, each of which fails on a kernel that can block it.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";
import { findMarkedProcesses } from "../../src/tools/process/orphan_processes.ts";
import type { SandboxOptions } from "../../src/tools/sandbox/sandbox_options.ts";
import { waitUntil } from "../wait_until.ts";
import { TestWorkspace } from "./test_workspace.ts";

const confinement = await findConfinement();
const landlock = confinement.type === "linux" ? confinement.support.landlock : 0;
const attacker = new URL("./attacker.ts", import.meta.url).pathname;
const isProofRun = Deno.env.get("SWINK_PROVE") === "1";

/** Runs a hostile command and returns its output. */
async function runAttack(workspace: TestWorkspace, command: string): Promise<string> {
  return (await workspace.callTool("bash", { command, timeout_ms: 20_000 })).text;
}

function createAttackCommand(name: string, ...args: readonly (string | number)[]): string {
  const flags = "--quiet --no-config --no-lock --cached-only --no-check --unstable-net -A";
  return `${Deno.execPath()} run ${flags} ${attacker} ${[name, ...args].join(" ")}`;
}

/** Registers a test for kernels with at least a version of Landlock. */
function kernelTest(name: string, version: number, run: () => Promise<void>): void {
  Deno.test({ name, ignore: landlock < version, fn: run });
}

interface WriteAttempt {
  readonly name: string;
  /** The command; `$OUT` is a directory outside the root with a file `victim` that contains `intact`. */
  readonly command: string;
}

const WRITE_ATTEMPTS: readonly WriteAttempt[] = [
  { name: "a plain write", command: "echo x > $OUT/new; echo x > $OUT/victim" },
  { name: "`..`", command: "echo x > ../outside/victim; echo x > sub/../../outside/new" },
  { name: "a symbolic link", command: "ln -s $OUT link; echo x > link/victim; echo x > link/new" },
  {
    name: "a link to a file",
    command: "ln -s $OUT/victim link; echo x > link; truncate -s 0 link",
  },
  { name: "a dangling link", command: "ln -s $OUT/new link; echo x > link" },
  { name: "a hard link", command: "ln $OUT/victim hard && echo x > hard" },
  {
    name: "/proc/self/root",
    command: "echo x > /proc/self/root$OUT/victim; echo x > /proc/self/cwd/../outside/new",
  },
  {
    name: "a child of a child",
    command: 'bash -c "bash -c \'bash -c \\"echo x > $OUT/victim\\"\'"',
  },
  {
    name: "bash -c in find -exec",
    command: "find . -maxdepth 0 -exec bash -c 'echo x > $OUT/victim' \\;",
  },
  { name: "a background process", command: "(sleep 0.02; echo x > $OUT/victim) & wait" },
  { name: "a process in another session", command: "setsid bash -c 'echo x > $OUT/victim'" },
  { name: "moving a file out and in", command: "echo x > a; mv a $OUT/new; mv $OUT/victim stolen" },
  { name: "removing", command: "rm -rf $OUT/victim $OUT" },
  { name: "truncating", command: "truncate -s 0 $OUT/victim; : > $OUT/victim" },
  { name: "touch after chmod", command: "chmod 777 $OUT; touch $OUT/new" },
  {
    name: "a pipe, a device, a directory",
    command: "mkfifo $OUT/new; mkdir $OUT/new; mknod $OUT/new c 1 3",
  },
  { name: "cd and a relative path", command: "cd $OUT && echo x > new" },
  {
    name: "an interpreter",
    command: "awk 'BEGIN { print \"x\" > \"'$OUT'/new\" }'; perl -e 'open F, \">$ENV{OUT}/new\"'",
  },
  {
    name: "dd, cp, tee, install",
    command:
      "echo x | tee $OUT/victim; cp a $OUT/new; dd if=/dev/zero of=$OUT/victim bs=1 count=1; install -m 600 /dev/null $OUT/new",
  },
  {
    name: "mounting",
    command:
      "mount --bind . $OUT; mount -t tmpfs x $OUT; unshare -m true && unshare -rm bash -c 'mount --bind . $OUT; echo x > $OUT/new'",
  },
  { name: "chroot", command: 'chroot / bash -c "echo x > $OUT/new"' },
  {
    name: "a preloaded library",
    command: "LD_PRELOAD=$PWD/evil.so bash -c 'echo x > $OUT/victim'",
  },
  {
    name: "system settings",
    command: "echo x > /proc/sys/kernel/core_pattern; echo x > $OUT/victim",
  },
];

for (const { name, command } of WRITE_ATTEMPTS) {
  kernelTest(`escape: writing outside the root by ${name} is blocked`, 3, async () => {
    await using workspace = new TestWorkspace();
    const out = `${workspace.outside}/outside`;
    Deno.mkdirSync(out);
    Deno.writeTextFileSync(`${out}/victim`, "intact");
    const text = await runAttack(workspace, `export OUT=${out}; ${command}`);
    assertEquals([...Deno.readDirSync(out)].map((entry) => entry.name), ["victim"], text);
    assertEquals(Deno.readTextFileSync(`${out}/victim`), "intact", text);
  });
}

kernelTest(
  "escape: a symbolic link swapped during a race does not redirect the file tools",
  1,
  async () => {
    await using workspace = new TestWorkspace();
    const out = `${workspace.outside}/outside`;
    Deno.mkdirSync(out);
    Deno.writeTextFileSync(`${out}/secret`, "secret");
    Deno.writeTextFileSync(`${out}/outside_name`, "");
    workspace.writeFile("real/secret", "public");
    const swap =
      `while :; do mv real kept; ln -s ${out} real; rm real; mv kept real; done 2>/dev/null`;
    const controller = new AbortController();
    const runningSwap = workspace.callTool(
      "bash",
      { command: swap, timeout_ms: 600_000 },
      controller.signal,
    );
    try {
      for (let round = 0; round < (isProofRun ? 600 : 24); round++) {
        const read = await workspace.callTool("read_file", { path: "real/secret" });
        assert(!read.text.includes("1\tsecret"), read.text);
        await workspace.callTool("write_file", { path: "real/mine", content: "mine" });
        const found = await workspace.callTool("search_files", { pattern: "secret" });
        assert(!found.text.includes("1: secret"), found.text);
        const listed = await workspace.callTool("list_directory", { path: "real" });
        assert(!listed.text.includes("outside_name"), listed.text);
      }
    } finally {
      controller.abort();
      await runningSwap;
    }
    assertEquals([...Deno.readDirSync(out)].map(({ name }) => name).sort(), [
      "outside_name",
      "secret",
    ]);
  },
);

kernelTest(
  "escape: hidden keys and /etc/shadow cannot be read",
  1,
  async () => {
    await using workspace = new TestWorkspace({ hide: [] });
    const key = `${workspace.outside}/key`;
    Deno.writeTextFileSync(key, "PRIVATE KEY");
    await using hiding = new TestWorkspace({ hide: [key] });
    const text = await runAttack(
      hiding,
      `cat ${key}; cat /proc/self/root${key}; ln ${key} k && cat k; cp ${key} .`,
    );
    assert(!text.includes("PRIVATE KEY"), text);
    const shadow = await runAttack(hiding, "cat /etc/shadow");
    assertMatch(shadow, /denied/i);
  },
);

kernelTest("escape: TCP connections are blocked in both directions", 4, async () => {
  await using workspace = new TestWorkspace();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  assertMatch(await runAttack(workspace, createAttackCommand("tcp_connect", port)), /blocked/);
  assertMatch(await runAttack(workspace, createAttackCommand("tcp_listen")), /blocked/);
  assertMatch(
    await runAttack(workspace, `exec 3<>/dev/tcp/127.0.0.1/${port} && echo ESCAPED`),
    /not permitted|denied/,
  );
});

const SOCKETS = [
  "udp_send",
  "dns",
  "mptcp_socket",
  "packet_socket",
  "vsock_socket",
  "io_uring",
  "fast_open",
];

for (const name of SOCKETS) {
  kernelTest(`escape: ${name} is blocked`, 1, async () => {
    await using workspace = new TestWorkspace();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    assertMatch(
      await runAttack(workspace, createAttackCommand(name, listener.addr.port)),
      /blocked/,
    );
  });
}

kernelTest("escape: Unix sockets are blocked inside and outside the root", 1, async () => {
  await using workspace = new TestWorkspace();
  const path = `${workspace.outside}/daemon.sock`;
  using _daemon = Deno.listen({ transport: "unix", path });
  assertMatch(await runAttack(workspace, createAttackCommand("unix_connect", path)), /blocked/);
  assertMatch(await runAttack(workspace, createAttackCommand("unix_listen")), /blocked/);
});

kernelTest(
  "escape: Unix sockets, raw packets and io_uring stay blocked with the network on",
  1,
  async () => {
    await using workspace = new TestWorkspace({ net: "on" });
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    assertMatch(
      await runAttack(workspace, createAttackCommand("tcp_connect", listener.addr.port)),
      /ESCAPED/,
    );
    for (const name of ["unix_listen", "packet_socket", "io_uring"]) {
      assertMatch(await runAttack(workspace, createAttackCommand(name)), /blocked/, name);
    }
  },
);

kernelTest("escape: a list of hosts allows only TCP to the port of the proxy", 4, async () => {
  const options: SandboxOptions = { net: ["example.org"] };
  await using workspace = new TestWorkspace(options);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  for (const name of ["tcp_connect", "udp_send", "mptcp_socket", "fast_open", "dns"]) {
    assertMatch(await runAttack(workspace, createAttackCommand(name, port)), /blocked/, name);
  }
  const curl = `exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}; ` +
    `printf 'CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3`;
  assertMatch(await runAttack(workspace, curl), /403 Forbidden/);
});

kernelTest("escape: this program cannot be traced, read or signaled", 6, async () => {
  await using workspace = new TestWorkspace();
  for (const name of ["ptrace_parent", "parent_memory", "parent_environment", "signal_parent"]) {
    assertMatch(await runAttack(workspace, createAttackCommand(name, Deno.pid)), /blocked/, name);
  }
});

kernelTest(
  "escape: limits, priority and scheduling of this program cannot be changed",
  1,
  async () => {
    await using workspace = new TestWorkspace();
    for (
      const name of ["limits_of_parent", "priority_of_parent", "scheduler_of_parent", "keyring"]
    ) {
      assertMatch(await runAttack(workspace, createAttackCommand(name, Deno.pid)), /blocked/, name);
    }
    assertMatch(await runAttack(workspace, createAttackCommand("own_priority")), /ESCAPED/);
  },
);

kernelTest("escape: no terminal can be opened, and the usual devices can", 1, async () => {
  await using workspace = new TestWorkspace();
  const terminals = await runAttack(
    workspace,
    "for t in /dev/tty /dev/ptmx /dev/pts/* /dev/console /dev/tty0; do " +
      'exec 3<$t && echo "ESCAPED $t"; exec 3>>$t && echo "ESCAPED $t"; done 2>&1',
  );
  assert(!terminals.includes("ESCAPED"), terminals);
  const devices = await runAttack(
    workspace,
    "echo x >/dev/null; echo a >/dev/stdout; echo b >/dev/stderr; head -c 1 /dev/zero | wc -c; " +
      "head -c 1 /dev/urandom >/dev/null && cat <(echo c) /dev/null",
  );
  assertEquals(devices, "Exit code: 0\na\nb\n1\nc");
});

kernelTest("escape: open files of this program are not inherited", 1, async () => {
  await using workspace = new TestWorkspace();
  const path = `${workspace.outside}/held`;
  using _held = Deno.openSync(path, { create: true, write: true });
  assertMatch(await runAttack(workspace, createAttackCommand("descriptors", path)), /blocked/);
});

kernelTest(
  "escape: the superuser loses all capabilities but those over files and users",
  1,
  async () => {
    await using workspace = new TestWorkspace();
    const text = await runAttack(
      workspace,
      "grep -E 'NoNewPrivs|Cap(Eff|Prm|Bnd)|Seccomp:' /proc/self/status",
    );
    assertMatch(text, /NoNewPrivs:\s+1/);
    assertMatch(text, /Seccomp:\s+2/);
    const isRoot = Deno.uid() === 0;
    assertMatch(text, isRoot ? /CapEff:\s+00000000000000fb/ : /CapEff:\s+0{16}/);
  },
);

Deno.test({
  name: "escape: processes that leave the group and the session end with the command",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using workspace = new TestWorkspace();
    const command = "for i in 1 2 3; do setsid sleep 60 & done; " +
      "(setsid bash -c 'setsid sleep 60 & setsid sleep 60' &) ; echo $SWINK_CALL";
    const mark = (await runAttack(workspace, command)).split("\n")[1] ?? "";
    assertMatch(mark, /^[\w-]{36}$/);
    assertEquals(findMarkedProcesses(mark), []);
  },
});

kernelTest(
  "known limit: a process that clears its environment outlives its command and stays confined",
  3,
  async () => {
    await using workspace = new TestWorkspace();
    const out = `${workspace.outside}/victim`;
    Deno.writeTextFileSync(out, "intact");
    // Its errors go nowhere, since the pipe for them may be closed by then, whose signal would end it.
    await runAttack(
      workspace,
      `setsid env -i PATH=$PATH bash -c 'exec 2>/dev/null; echo $$ > pid; sleep 0.05; echo x > ${out}; echo x > tried; sleep 60' & ` +
        `while [ ! -s pid ]; do sleep 0.005; done`,
    );
    await waitUntil(() => workspace.exists("tried"));
    Deno.kill(Number(workspace.readFile("pid")), "SIGKILL");
    assertEquals(Deno.readTextFileSync(out), "intact");
  },
);

kernelTest(
  "known limit: an owner can change the modes of files outside the roots",
  1,
  async () => {
    await using workspace = new TestWorkspace();
    const victim = `${workspace.outside}/victim`;
    Deno.writeTextFileSync(victim, "intact");
    await runAttack(workspace, `chmod 600 ${victim}`);
    assertEquals((Deno.statSync(victim).mode ?? 0) & 0o777, 0o600);
    const { rules } = await workspace.sandbox.describe();
    assert(rules.some(({ rule, enforcedBy }) => rule.includes("modes") && enforcedBy === "none"));
  },
);

kernelTest(
  "createSandbox(): commands run with required confinement when the kernel supports it",
  6,
  async () => {
    await using workspace = new TestWorkspace({ confinement: "required" });
    assertEquals(await runAttack(workspace, "echo runs"), "Exit code: 0\nruns");
  },
);

kernelTest("escape: the same attempts succeed without confinement", 1, async () => {
  await using workspace = new TestWorkspace({ confinement: "off" });
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const held = `${workspace.outside}/held`;
  const attempts: readonly (readonly [string, ...(string | number)[]])[] = [
    ["tcp_connect", port],
    ["tcp_listen"],
    ["udp_send", port],
    ["unix_listen"],
    ["parent_environment", Deno.pid],
    ["signal_parent", Deno.pid],
    ["limits_of_parent", Deno.pid],
    ["priority_of_parent", Deno.pid],
  ];
  const outputs = await Promise.all(
    attempts.map(([name, ...args]) => runAttack(workspace, createAttackCommand(name, ...args))),
  );
  for (const output of outputs) assertMatch(output, /ESCAPED/);
  await runAttack(workspace, `echo x > ${held}`);
  assertEquals(Deno.readTextFileSync(held), "x\n");
});
