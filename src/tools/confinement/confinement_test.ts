import { assert, assertEquals, assertMatch } from "@std/assert";
import { createCommandEnvironment } from "../process/command_environment.ts";
import { confineLaunch, toConfinedNetwork } from "./confinement.ts";
import {
  encodePathRule,
  encodeRulesetAttributes,
  getHandledRights,
  getWriteRights,
} from "./landlock.ts";
import { listReadablePaths } from "./readable_paths.ts";
import { createSeatbeltProfile } from "./seatbelt_profile.ts";
import { type Architecture, createSeccompFilter, type FilterRules } from "./seccomp_filter.ts";

const POLICY = {
  writable: ["/p"],
  readable: ["/"],
  readOnly: ["/p/.git/config"],
  hidden: ['/h/"x'],
  network: { type: "off" },
  unixSockets: false,
} as const;

Deno.test("Landlock: rights and structure match the version of the ABI", () => {
  assertEquals([1, 2, 3, 4, 5, 6, 7].map(getHandledRights), [
    0x1fff,
    0x3fff,
    0x7fff,
    0x7fff,
    0xffff,
    0xffff,
    0xffff,
  ]);
  const lengths = [1, 3, 4, 5, 6, 7].map((version) =>
    encodeRulesetAttributes(version, { type: "off" }).length
  );
  assertEquals(lengths, [8, 8, 16, 16, 24, 24]);
  assertEquals(encodeRulesetAttributes(4, { type: "on" })[8], 0);
  assertEquals(encodeRulesetAttributes(4, { type: "off" })[8], 3);
});

Deno.test("Landlock: devices cannot be created, and a file gets no directory rights", () => {
  assertEquals(getWriteRights(true, 7) & ((1 << 6) | (1 << 11)), 0);
  assertEquals(getWriteRights(false, 7), 0b1100000000000111);
  assertEquals([...encodePathRule(5, 9)], [5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
});

/** Runs a filter on a system call as the kernel does. */
function runFilter(
  architecture: Architecture,
  rules: FilterRules,
  call: { readonly number: number; readonly audit?: number; readonly args?: readonly number[] },
): "allow" | number {
  const audit = call.audit ?? (architecture === "x86_64" ? 0xc000003e : 0xc00000b7);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, audit, true);
  for (const [index, value] of (call.args ?? []).entries()) {
    data.setUint32(16 + index * 8, value, true);
  }
  const filter = createSeccompFilter(architecture, rules);
  const view = new DataView(filter.buffer);
  let accumulator = 0;
  for (let index = 0;; index++) {
    const [code, jt, jf, k] = [
      view.getUint16(index * 8, true),
      view.getUint8(index * 8 + 2),
      view.getUint8(index * 8 + 3),
      view.getUint32(index * 8 + 4, true),
    ];
    const jump = (condition: boolean) => index += condition ? jt : jf;
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(k, true);
        break;
      case 0x54:
        accumulator = (accumulator & k) >>> 0;
        break;
      case 0x15:
        jump(accumulator === k);
        break;
      case 0x35:
        jump(accumulator >= k);
        break;
      case 0x45:
        jump((accumulator & k) !== 0);
        break;
      case 0x06:
        return k === 0x7fff0000 ? "allow" : k & 0xffff;
      default:
        throw new Error(`unknown instruction ${code}`);
    }
  }
}

const SOCKET = { x86_64: 41, aarch64: 198 } as const;
const [UNIX, INET, INET6, NETLINK, PACKET, VSOCK] = [1, 2, 10, 16, 17, 40];
const [STREAM, DATAGRAM, RAW] = [1, 2, 3];
const NONBLOCK_CLOEXEC = 0o2004000;

for (const architecture of ["x86_64", "aarch64"] as const) {
  const socket = (rules: FilterRules, ...args: number[]) =>
    runFilter(architecture, rules, { number: SOCKET[architecture], args });

  Deno.test(`seccomp, ${architecture}: allows only netlink sockets without a network`, () => {
    const rules = { sockets: "none", unixSockets: false } as const;
    for (const domain of [UNIX, INET, INET6, PACKET, VSOCK, 43, 0xffff]) {
      for (const type of [STREAM, DATAGRAM, RAW]) assertEquals(socket(rules, domain, type, 0), 1);
    }
    assertEquals(socket(rules, NETLINK, RAW, 0), "allow");
    assertEquals(socket(rules, NETLINK, RAW, 15), 1);
    assertEquals(socket({ ...rules, unixSockets: true }, UNIX, STREAM, 0), "allow");
  });

  Deno.test(`seccomp, ${architecture}: allows only TCP with a proxy`, () => {
    const rules = { sockets: "tcp", unixSockets: false } as const;
    for (const domain of [INET, INET6]) {
      assertEquals(socket(rules, domain, STREAM | NONBLOCK_CLOEXEC, 0), "allow");
      assertEquals(socket(rules, domain, STREAM, 6), "allow");
      assertEquals(socket(rules, domain, STREAM, 262), 1);
      assertEquals(socket(rules, domain, STREAM, 132), 1);
      assertEquals(socket(rules, domain, DATAGRAM, 0), 1);
      assertEquals(socket(rules, domain, RAW, 6), 1);
    }
    assertEquals(socket(rules, UNIX, STREAM, 0), 1);
  });

  Deno.test(`seccomp, ${architecture}: allows all of IP, and nothing else, with a network`, () => {
    const rules = { sockets: "ip", unixSockets: false } as const;
    assertEquals(socket(rules, INET, DATAGRAM, 0), "allow");
    assertEquals(socket(rules, INET6, STREAM, 0), "allow");
    assertEquals(socket(rules, UNIX, STREAM, 0), 1);
    assertEquals(socket(rules, PACKET, RAW, 0), 1);
  });

  Deno.test(`seccomp, ${architecture}: blocks TCP Fast Open, io_uring and other instruction sets`, () => {
    const rules = { sockets: "tcp", unixSockets: false } as const;
    const [sendto, sendmsg, sendmmsg] = architecture === "x86_64" ? [44, 46, 307] : [206, 211, 269];
    const fastOpen = 0x20000000;
    const call = (number: number, ...args: number[]) =>
      runFilter(architecture, rules, { number, args });
    assertEquals(call(sendto, 0, 0, 0, fastOpen), 1);
    assertEquals(call(sendto, 0, 0, fastOpen, 0x4000), "allow");
    assertEquals(call(sendmsg, 0, 0, fastOpen), 1);
    assertEquals(call(sendmsg, 0, 0, 0, fastOpen), "allow");
    assertEquals(call(sendmmsg, 0, 0, 0, fastOpen), 1);
    assertEquals(call(sendmmsg, 0, 0, fastOpen), "allow");
    assertEquals(call(425), 38);
    assertEquals(call(0), "allow");
    assertEquals(runFilter(architecture, rules, { number: 0, audit: 0x40000003 }), 1);
  });
}

const PROCESS_CALLS = {
  x86_64: {
    setters: [302, 142, 144, 203, 314],
    setpriority: 141,
    ioprio: 251,
    ioctl: 16,
    keys: 248,
  },
  aarch64: {
    setters: [261, 118, 119, 122, 274],
    setpriority: 140,
    ioprio: 30,
    ioctl: 29,
    keys: 217,
  },
} as const;

for (const architecture of ["x86_64", "aarch64"] as const) {
  Deno.test(`seccomp, ${architecture}: a process changes only its own limits and scheduling`, () => {
    const rules = { sockets: "ip", unixSockets: true } as const;
    const { setters, setpriority, ioprio, ioctl, keys } = PROCESS_CALLS[architecture];
    const call = (number: number, ...args: number[]) =>
      runFilter(architecture, rules, { number, args });
    for (const setter of setters) {
      assertEquals([call(setter, 0, 7), call(setter, 123, 7)], ["allow", 1], String(setter));
    }
    const [PROCESS, GROUP, USER] = [0, 1, 2];
    assertEquals(call(setpriority, PROCESS, 0, 5), "allow");
    assertEquals(call(setpriority, PROCESS, 123, 5), 1);
    assertEquals(call(setpriority, GROUP, 123, 5), 1);
    assertEquals(call(setpriority, USER, 0, 5), 1);
    assertEquals([call(ioprio, 1, 0), call(ioprio, 1, 123), call(ioprio, 3, 0)], ["allow", 1, 1]);
    assertEquals([0, 1, 2].map((offset) => call(keys + offset)), [38, 38, 38]);
    assertEquals([0x5412, 0x541c, 0x5401].map((request) => call(ioctl, 0, request)), [
      1,
      1,
      "allow",
    ]);
  });
}

/** `chmod` or `fchmod`, `fchownat`, `utimensat`, `setxattr`, `fremovexattr`, `fchmodat2` and `file_setattr`. */
const ATTRIBUTE_CALLS = {
  x86_64: [90, 260, 280, 188, 199, 452, 469],
  aarch64: [52, 54, 88, 5, 16, 452, 469],
} as const;

for (const architecture of ["x86_64", "aarch64"] as const) {
  Deno.test(`seccomp, ${architecture}: attributes of files change only without keepsAttributes`, () => {
    const rules = { sockets: "none", unixSockets: false } as const;
    const { ioctl } = PROCESS_CALLS[architecture];
    const calls = [
      ...ATTRIBUTE_CALLS[architecture].map((number) => ({ number, args: [] })),
      { number: ioctl, args: [3, 0x40086602] },
    ];
    for (const call of calls) {
      assertEquals(runFilter(architecture, rules, call), "allow", String(call.number));
      const kept = runFilter(architecture, { ...rules, keepsAttributes: true }, call);
      assertEquals(kept, 1, String(call.number));
    }
    const terminal = { number: ioctl, args: [3, 0x5401] };
    assertEquals(runFilter(architecture, { ...rules, keepsAttributes: true }, terminal), "allow");
  });
}

Deno.test("createSeatbeltProfile(): allows no writes but to devices without writable paths", () => {
  const profile = createSeatbeltProfile({ ...POLICY, writable: [] });
  assertEquals(profile.match(/allow file-write\*.*/g)?.length, 1);
  assertMatch(profile, /\(deny file-write\*\)\n\(allow file-write\* \(literal "\/dev\/null"\)/);
});

Deno.test("seccomp, x86_64: blocks x32 system calls", () => {
  const rules = { sockets: "ip", unixSockets: false } as const;
  assertEquals(runFilter("x86_64", rules, { number: 0x40000000 + 41, args: [UNIX, STREAM, 0] }), 1);
});

Deno.test("createSeatbeltProfile(): denies writes except in the roots, denies reads of hidden paths, and quotes paths", () => {
  const profile = createSeatbeltProfile(POLICY);
  assertMatch(profile, /\(deny file-write\*\)\n\(allow file-write\* \(subpath "\/p"\)\)/);
  assertMatch(profile, /\(deny file-write\* \(subpath "\/p\/.git\/config"\)\)/);
  assertMatch(profile, /\(deny file-read-data file-write\* \(subpath "\/h\/\\"x"\)\)/);
  assertMatch(profile, /\(deny network\*\)/);
  const proxied = createSeatbeltProfile({
    ...POLICY,
    network: { type: "proxy", port: 81 },
  });
  assertMatch(
    proxied,
    /\(deny network\*\)\n\(allow network-outbound \(remote ip "localhost:81"\)\)/,
  );
});

Deno.test("confineLaunch(): wraps the launch for Seatbelt, passes it to the helper for Landlock, and returns it unchanged without confinement", () => {
  const launch = { program: "bash", args: ["-c", "x"], cwd: "/p", env: { A: "b" } };
  assertEquals(confineLaunch(launch, { type: "none", reason: "" }, POLICY), launch);
  const seatbelt = confineLaunch(launch, { type: "seatbelt" }, POLICY);
  assertEquals(seatbelt.args.slice(2), ["/usr/bin/env", "bash", "-c", "x"]);
  const support = { landlock: 7, seccomp: true, mounts: "none" } as const;
  Deno.env.set("SWINK_TEST_SECRET", "secret");
  const { input = "", env } = confineLaunch(launch, { type: "linux", support }, POLICY);
  const { argv, env: sent, policy } = JSON.parse(String(input));
  assertEquals([argv, sent, "hidden" in policy], [
    ["/usr/bin/env", "bash", "-c", "x"],
    { A: "b" },
    false,
  ]);
  Deno.env.delete("SWINK_TEST_SECRET");
  assert(!("A" in env) && !("SWINK_TEST_SECRET" in env), JSON.stringify(env));
});

Deno.test("confineLaunch(): does not grant the devices with the root of the file system", () => {
  const launch = { program: "bash", args: [], cwd: "/", env: {} };
  const support = { landlock: 7, seccomp: true, mounts: "direct" } as const;
  const rules = { ...POLICY, writable: ["/", "/dev/null"] };
  const { input = "" } = confineLaunch(launch, { type: "linux", support }, rules);
  const { writable } = JSON.parse(String(input)).policy;
  assert(writable.includes("/tmp") && writable.includes("/dev/null"), writable.join(" "));
  assert(!writable.includes("/") && !writable.includes("/dev"), writable.join(" "));
});

Deno.test("toConfinedNetwork(): converts a list of hosts to the port of the proxy, or to off without a proxy", () => {
  assertEquals(toConfinedNetwork("on", undefined), { type: "on" });
  assertEquals(toConfinedNetwork(["a"], 5), { type: "proxy", port: 5 });
  assertEquals(toConfinedNetwork(["a"], undefined), { type: "off" });
});

Deno.test("listReadablePaths(): leaves out hidden paths and lists their siblings", async () => {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  for (const name of ["a/key", "a/other", "b/x"]) {
    Deno.mkdirSync(`${directory}/${name}`, { recursive: true });
  }
  Deno.symlinkSync("a/key", `${directory}/link`);
  const granted = listReadablePaths([`${directory}/a/key`]).filter((path) =>
    path.startsWith(directory)
  );
  assertEquals(granted.sort(), [`${directory}/a/other`, `${directory}/b`]);
  assertEquals(listReadablePaths([]), ["/"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("listReadablePaths(): leaves out hard links to hidden files, by which these would be granted", async () => {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  for (const name of ["key.pem", "other.txt"]) Deno.writeTextFileSync(`${directory}/${name}`, "a");
  for (const name of ["empty.pem", "empty.txt"]) Deno.writeTextFileSync(`${directory}/${name}`, "");
  Deno.linkSync(`${directory}/key.pem`, `${directory}/copy.txt`);
  Deno.linkSync(`${directory}/empty.pem`, `${directory}/shared.txt`);
  const hidden = [`${directory}/key.pem`, `${directory}/empty.pem`];
  const granted = listReadablePaths(hidden).filter((path) => path.startsWith(directory));
  const names = granted.map((path) => path.slice(directory.length + 1));
  assertEquals(names.sort(), ["empty.txt", "other.txt", "shared.txt"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("createCommandEnvironment(): copies only listed and named variables", () => {
  const variables: Record<string, string> = { PATH: "/bin", HOME: "/h", API_KEY: "x", FLAG: "f" };
  const environment = createCommandEnvironment({
    read: (name) => variables[name],
    passEnvironment: ["FLAG"],
    set: { TERM: "xterm" },
  });
  assertEquals(environment.API_KEY, undefined);
  assertEquals([environment.PATH, environment.FLAG, environment.TERM], ["/bin", "f", "xterm"]);
});
