import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type FileStatus, SEEK_START } from "./file_calls.ts";
import type { CommandOptions } from "./process_calls.ts";
import { createNodeSystem, type System, system } from "./system.ts";
import { getSystemErrorCode } from "./system_error.ts";

const systems: Readonly<Record<string, System>> = { Deno, "Node's modules": createNodeSystem() };

function testSystems(name: string, test: (system: System, root: string) => void | Promise<void>) {
  for (const [kind, system] of Object.entries(systems)) {
    Deno.test(`system, ${kind}: ${name}`, async () => {
      const root = system.realPathSync(system.makeTempDirSync({ prefix: "swink_system_" }));
      try {
        await test(system, root);
      } finally {
        await system.remove(root, { recursive: true });
      }
    });
  }
}

function getErrorCode(act: () => unknown): string | undefined {
  return getSystemErrorCode(assertThrows(act));
}

Deno.test("system is Deno's namespace on Deno", () => {
  assert(system === Deno);
  assertEquals({ ...createNodeSystem().build, standalone: false }, {
    os: Deno.build.os,
    arch: Deno.build.arch,
    standalone: false,
  });
  const { pid, cwd, execPath, uid, env } = createNodeSystem();
  assertEquals([pid, cwd(), execPath(), uid()], [
    Deno.pid,
    Deno.cwd(),
    Deno.execPath(),
    Deno.uid(),
  ]);
  assertEquals(env.get("PATH"), Deno.env.get("PATH"));
});

testSystems("writes, reads, lists, renames and removes files", async (system, root) => {
  const [directory, file] = [`${root}/a/b`, `${root}/a/b/é.txt`];
  await system.mkdir(directory, { recursive: true });
  system.mkdirSync(directory, { recursive: true });
  await system.writeTextFile(file, "one\n", { createNew: true, mode: 0o600 });
  await system.writeTextFile(file, "two\n", { append: true });
  assertEquals(system.readTextFileSync(file), "one\ntwo\n");
  assertEquals(await system.readTextFile(file), "one\ntwo\n");
  const bytes = new TextEncoder().encode("one\ntwo\n");
  assertEquals([await system.readFile(file), system.readFileSync(file)], [bytes, bytes]);
  assertEquals(Object.getPrototypeOf(await system.readFile(file)), Uint8Array.prototype);
  const entry = { name: "é.txt", isFile: true, isDirectory: false, isSymlink: false };
  assertEquals([...system.readDirSync(directory)], [entry]);

  await system.copyFile(file, `${root}/copy`);
  await system.rename(file, `${root}/new`);
  system.renameSync(`${root}/new`, `${root}/copy`);
  assertEquals([...system.readDirSync(root)].map(({ name }) => name).sort(), ["a", "copy"]);
  system.removeSync(`${root}/a`, { recursive: true });
  await system.remove(`${root}/copy`);
  await system.mkdir(directory, { recursive: true });
  await system.remove(directory);
  system.removeSync(`${root}/a`);
  assertEquals([...system.readDirSync(root)], []);
});

function getStatus(status: FileStatus) {
  const { isFile, isDirectory, isSymlink, size, mtime, ctime, dev, ino, mode, uid, gid } = status;
  const { isFifo, isSocket, isCharDevice, isBlockDevice } = status;
  const types = [isFile, isDirectory, isSymlink, isFifo, isSocket, isCharDevice, isBlockDevice];
  return { types, size, mtime, ctime, dev, ino, mode, uid, gid };
}

testSystems("reads the status of files, directories and links", async (system, root) => {
  const [file, link] = [`${root}/file`, `${root}/link`];
  await system.writeTextFile(file, "text");
  system.chmodSync(file, 0o640);
  system.chownSync(file, Deno.uid(), Deno.gid());
  await Deno.symlink("file", link);
  const expected = getStatus(await Deno.stat(file));
  for (const actual of [await system.stat(link), system.statSync(file), system.lstatSync(file)]) {
    assertEquals(getStatus(actual), expected);
  }
  assertEquals(expected.mode === null ? null : expected.mode & 0o777, 0o640);
  assertEquals((await system.lstat(link)).isSymlink, true);
  assertEquals(system.statSync(root).isDirectory, true);
  assertEquals([await system.readLink(link), system.readLinkSync(link)], ["file", "file"]);
  assertEquals([await system.realPath(link), system.realPathSync(link)], [file, file]);
});

testSystems("gives the codes of the operating system", async (system, root) => {
  const [missing, file] = [`${root}/missing`, `${root}/file`];
  await system.writeTextFile(file, "");
  await Deno.symlink("loop", `${root}/loop`);
  assertEquals(getErrorCode(() => system.lstatSync(missing)), "ENOENT");
  assertEquals(getErrorCode(() => system.realPathSync(`${root}/loop`)), "ELOOP");
  assertEquals(
    getErrorCode(() => system.openSync(file, { write: true, createNew: true })),
    "EEXIST",
  );
  assertEquals(getErrorCode(() => system.mkdirSync(root)), "EEXIST");
  assertEquals(getErrorCode(() => system.removeSync(missing)), "ENOENT");
  assertEquals(getErrorCode(() => system.readDirSync(missing)[Symbol.iterator]().next()), "ENOENT");
  for (const act of [system.stat, system.readFile, system.open, system.readLink, system.remove]) {
    assertEquals(getSystemErrorCode(await assertRejects(() => act(missing))), "ENOENT");
  }
});

testSystems("reads and writes open files at a position", async (system, root) => {
  const path = `${root}/file`;
  const buffer = new Uint8Array(4);
  using file = await system.open(path, { read: true, write: true, createNew: true, mode: 0o600 });
  assertEquals(file.writeSync(new Uint8Array([1, 2, 3])), 3);
  assertEquals(await file.write(new Uint8Array([4, 5, 6])), 3);
  assertEquals([file.readSync(buffer), await file.read(buffer)], [null, null]);
  assertEquals(file.seekSync(1, SEEK_START), 1);
  assertEquals([file.readSync(buffer), [...buffer]], [4, [2, 3, 4, 5]]);
  assertEquals([await file.read(buffer), buffer[0]], [1, 6]);
  assertEquals(await file.seek(5, SEEK_START), 5);
  assertEquals(await file.read(buffer), 1);
  await file.sync();
  await file.syncData();
  file.utimeSync(1, 2);
  assertEquals([file.statSync().size, file.statSync().mtime?.getTime()], [6, 2_000]);
  for (const size of [9, 2]) {
    file.truncateSync(size);
    assertEquals(system.statSync(path).size, size);
  }
  file.truncateSync();
  assertEquals(system.statSync(path).size, 0);

  using log = system.openSync(path, { append: true });
  assertEquals([log.writeSync(new Uint8Array(2)), await log.write(new Uint8Array(3))], [2, 3]);
  assertEquals(system.statSync(path).size, 5);
  using replaced = system.openSync(path, { write: true, create: true, truncate: true });
  assertEquals(replaced.statSync().size, 0);
});

const COMMAND: Omit<CommandOptions, "args"> = {
  env: { NAME: "value", PATH: "/usr/bin:/bin" },
  clearEnv: true,
  detached: true,
  stdin: "null",
  stdout: "piped",
  stderr: "null",
};

testSystems(
  "starts programs with arguments, directory, environment and input",
  async (system, root) => {
    const script = 'cat; pwd; echo "$1 $NAME $HOME."; echo error >&2; exit 3';
    const args = ["-c", script, "sh", "argument"];
    const child = new system.Command("sh", { ...COMMAND, args, cwd: root, stdin: "piped" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode("input\n"));
    await writer.close();
    assertEquals(await new Response(child.stdout).text(), `input\n${root}\nargument value .\n`);
    assertEquals(await child.status.then(({ code, signal }) => ({ code, signal })), {
      code: 3,
      signal: null,
    });
  },
);

testSystems("kills the process group of a program", async (system) => {
  const args = ["-c", "sleep 60 & echo started; wait"];
  const child = new system.Command("sh", { ...COMMAND, args }).spawn();
  const reader = child.stdout.getReader();
  assertEquals(new TextDecoder().decode((await reader.read()).value), "started\n");
  system.kill(-child.pid, "SIGTERM");
  const { code, signal } = await child.status;
  assertEquals([code, signal, (await reader.read()).done], [143, "SIGTERM", true]);
});

testSystems("ends the input of a program that has ended", async (system) => {
  const child = new system.Command("true", { ...COMMAND, args: [], stdin: "piped" }).spawn();
  await child.stdout.cancel();
  await child.status;
  await new Promise((resolve) => setTimeout(resolve));
  await child.stdin.close().catch(() => {});
});

testSystems(
  "writes nothing for an empty chunk, also when the program has ended",
  async (system) => {
    const child = new system.Command("true", { ...COMMAND, args: [], stdin: "piped" }).spawn();
    await child.stdout.cancel();
    await child.status;
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array());
    await writer.close().catch(() => {});
  },
);

testSystems("reads a long output slowly, and cancels it", async (system) => {
  const args = ["-c", "while :; do echo 0123456789; done"];
  const child = new system.Command("sh", { ...COMMAND, args }).spawn();
  const reader = child.stdout.getReader();
  for (let chunk = 0; chunk < 20; chunk++) assert(((await reader.read()).value?.length ?? 0) > 0);
  await reader.cancel();
  assertEquals((await child.status).signal, "SIGPIPE");
});

testSystems("throws when a program or its directory does not exist", (system) => {
  const start = (program: string, cwd: string) =>
    new system.Command(program, { ...COMMAND, args: [], cwd }).spawn();
  assertEquals(getErrorCode(() => start("swink_missing_program", "/")), "ENOENT");
  assertEquals(getErrorCode(() => start("true", "/missing_directory")), "ENOENT");
});

testSystems("accepts and opens connections", async (system) => {
  const listener = await system.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const serving = (async () => {
    for await (const connection of listener) {
      const bytes = new Uint8Array(2);
      for (let length; (length = await connection.read(bytes)) !== null;) {
        await connection.write(bytes.slice(0, length).reverse());
      }
      await connection.closeWrite();
      connection.close();
    }
  })();
  const client = await system.connect({ hostname: "127.0.0.1", port });
  await client.write(new Uint8Array([1, 2, 3]));
  await client.closeWrite();
  const received: number[] = [];
  const bytes = new Uint8Array(8);
  for (let length; (length = await client.read(bytes)) !== null;) {
    received.push(...bytes.subarray(0, length));
  }
  assertEquals(received, [2, 1, 3]);
  client.close();
  listener.close();
  await serving;
  // A port that no program may use; that of the listener can be another program's by now.
  await assertRejects(() => system.connect({ hostname: "127.0.0.1", port: 1 }));
});
