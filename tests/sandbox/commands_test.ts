/**
 * Commands under confinement: their remaining rights, and programs that connect.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";
import { TestWorkspace } from "./test_workspace.ts";

const confinement = await findConfinement();
const isConfined = confinement.type === "linux" && confinement.support.landlock >= 4;
const ignore = !isConfined;
const { config } = await choosePackages();

async function run(workspace: TestWorkspace, command: string): Promise<string> {
  return (await workspace.callTool("bash", { command, timeout_ms: 20_000 })).text;
}

Deno.test({
  name:
    "sandbox: commands read the system, and write in the working directory and in each write root",
  ignore,
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
    await using workspace = new TestWorkspace({ writeRoots: [root] });
    const text = await run(
      workspace,
      `ls -l /bin/ >/dev/null && echo 1 > a && echo 2 > ${root}/b && mktemp >/dev/null && cat a ${root}/b`,
    );
    assertEquals(text, "Exit code: 0\n1\n2");
    await Deno.remove(root, { recursive: true });
  },
});

Deno.test({
  name: "sandbox: /dev/shm is writable only as a root",
  ignore: ignore || !isDirectory("/dev/shm"),
  async fn() {
    const name = `/dev/shm/swink_test_${crypto.randomUUID()}`;
    await using closed = new TestWorkspace();
    assertStringIncludes(await run(closed, `echo x > ${name}`), "Permission denied");
    await using open = new TestWorkspace({ writeRoots: ["/dev/shm"] });
    assertEquals(
      await run(open, `echo x > ${name} && cat ${name} && rm ${name}`),
      "Exit code: 0\nx",
    );
  },
});

Deno.test({
  name: "sandbox: git finds the repository above the working directory, and cannot change it",
  ignore,
  async fn() {
    await using parent = new TestWorkspace();
    await run(parent, "git init -q . && mkdir sub");
    await using workspace = new TestWorkspace({ cwd: `${parent.directory}/sub` });
    const text = await run(
      workspace,
      "git rev-parse --show-toplevel; git config a.b c; echo x > a; git status --short",
    );
    assertStringIncludes(text, `${parent.directory}\n`);
    assertStringIncludes(text, "could not lock config file");
    assertStringIncludes(text, "?? ");
  },
});

Deno.test({
  name: "sandbox: a hidden path in the working directory is neither readable nor writable",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("keys/key", "SECRET");
    for (const path of [`${workspace.directory}/keys`, "keys", "./keys/key"]) {
      await using hiding = new TestWorkspace({ cwd: workspace.directory, hide: [path] });
      const text = await run(
        hiding,
        "cat keys/key; echo x > keys/key; mv keys k; cat k/key; echo x > a; cat a",
      );
      assert(!text.includes("SECRET"), `${path}: ${text}`);
      assertStringIncludes(text, "\nx");
      assertEquals(workspace.readFile("keys/key"), "SECRET");
    }
  },
});

Deno.test({
  name: "sandbox: a write root in a hidden directory is writable",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("hidden/secret", "SECRET");
    workspace.writeFile("hidden/open/a", "open\n");
    await using hiding = new TestWorkspace({
      hide: [`${workspace.directory}/hidden`],
      writeRoots: [`${workspace.directory}/hidden/open`],
    });
    const text = await run(
      hiding,
      `cd ${workspace.directory}/hidden; cat open/a; echo x > open/b; cat secret`,
    );
    assertStringIncludes(text, "open\n");
    assert(!text.includes("SECRET"), text);
    assertEquals(workspace.readFile("hidden/open/b"), "x\n");
  },
});

Deno.test({
  name:
    "sandbox: connected pairs of sockets work, and with Unix sockets allowed there is still no network",
  ignore,
  async fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const pair = "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die $!; " +
      'syswrite($a, "pair\\n"); sysread($b, $_, 5); print\'';
    const unix =
      'perl -MSocket -e \'socket(my $a, AF_UNIX, SOCK_STREAM, 0) or die "refused\\n"; print "unix\\n"\'';
    const tcp = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo ESCAPED`;
    await using closed = new TestWorkspace();
    const refused = await run(closed, `${pair}; ${unix}; ${tcp}`);
    assertStringIncludes(refused, "pair\nrefused\n");
    await using open = new TestWorkspace({ unixSockets: true });
    const allowed = await run(open, `${pair}; ${unix}; ${tcp}`);
    assertStringIncludes(allowed, "pair\nunix\n");
    assert(!`${refused}${allowed}`.includes("ESCAPED"), allowed);
  },
});

/** Creates a segment of shared memory with a text, or reads it. */
const SHARED_MEMORY = {
  write:
    "perl -e 'my $id = shmget($ARGV[0], 16, 0666 | 01000) // die $!; shmwrite($id, \"SECRET\", 0, 6)' $KEY",
  read:
    "perl -e 'my $id = shmget($ARGV[0], 16, 0) // die \"none\\n\"; shmread($id, my $text, 0, 6); print $text' $KEY 2>&1",
  remove: "ipcrm -M $KEY",
};

Deno.test({
  name:
    "sandbox: commands have shared memory of their own, and none of other programs, where the kernel has namespaces",
  ignore: ignore || confinement.support.mounts === "none",
  async fn() {
    const KEY = String(0x5357494e);
    const runOutside = async (command: string) => {
      const shell = new Deno.Command("bash", { args: ["-c", command], env: { KEY } });
      return new TextDecoder().decode((await shell.output()).stdout);
    };
    await runOutside(SHARED_MEMORY.write);
    try {
      assertEquals(await runOutside(SHARED_MEMORY.read), "SECRET");
      await using workspace = new TestWorkspace({ environment: { KEY } });
      assertStringIncludes(await run(workspace, SHARED_MEMORY.read), "none");
      const own = await run(workspace, `${SHARED_MEMORY.write}; ${SHARED_MEMORY.read}`);
      assertEquals(own, "Exit code: 0\nSECRET");
    } finally {
      await runOutside(SHARED_MEMORY.remove);
    }
  },
});

Deno.test({
  name: "sandbox: a command that writes to a closed pipe is ended by a signal, as in a shell",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    const text = await run(workspace, "yes | head -n 1; echo ${PIPESTATUS[0]}");
    assertEquals(text, "Exit code: 0\ny\n141");
  },
});

Deno.test({
  name: "sandbox: files that this program inherited are closed for commands",
  ignore,
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile(
      "main.ts",
      `
      import { createSandbox } from ${
        JSON.stringify(import.meta.resolve("../../src/tools/mod.ts"))
      };
      await using sandbox = createSandbox({ cwd: Deno.cwd(), confinement: Deno.args[0] });
      const command = await sandbox.startCommand("cat <&9; echo end");
      console.log(await new Response(command.output).text());
      await command.exited;
      await command.finish();
    `,
    );
    await Deno.writeTextFile(`${workspace.outside}/inherited`, "INHERITED\n");
    const start = async (confinement: string) => {
      const flags = `-A --no-check --cached-only --no-lock -c ${config}`;
      const script = `exec 9<../inherited; exec "$DENO" run ${flags} main.ts ${confinement}`;
      const shell = new Deno.Command("bash", {
        args: ["-c", script],
        cwd: workspace.directory,
        env: { DENO: Deno.execPath() },
      });
      return new TextDecoder().decode((await shell.output()).stdout);
    };
    const [unconfined, confined] = [await start("off"), await start("auto")];
    assertStringIncludes(unconfined, "INHERITED\nend");
    assert(!confined.includes("INHERITED"), confined);
    assertStringIncludes(confined, "end");
  },
});

/** Programs that connect to a port, and exit with 0 if they can. */
const CLIENTS: Readonly<Record<string, string>> = {
  curl: "curl -sS --max-time 5 http://127.0.0.1:$PORT/",
  wget: "wget -qO- --tries=1 --timeout=5 http://127.0.0.1:$PORT/",
  ssh: "ssh -o BatchMode=yes -o ConnectTimeout=5 -p $PORT 127.0.0.1",
  git: "git ls-remote http://127.0.0.1:$PORT/a.git",
  bash: "exec 3<>/dev/tcp/127.0.0.1/$PORT",
  perl:
    "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => \"127.0.0.1:$ENV{PORT}\") or exit 1'",
};

for (const [program, command] of Object.entries(CLIENTS)) {
  Deno.test({
    name: `sandbox: ${program} reaches no server`,
    ignore: ignore || !(await hasProgram(program)),
    async fn() {
      await using workspace = new TestWorkspace({ environment: { NO_PROXY: "*" } });
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      let connections = 0;
      const serving = (async () => {
        for await (const connection of listener) {
          connections++;
          connection.close();
        }
      })();
      const { port } = listener.addr;
      const text = await run(workspace, `export PORT=${port}; ${command}`);
      // The same command connects without confinement.
      const shell = new Deno.Command("bash", {
        args: ["-c", command],
        env: { PORT: String(port), NO_PROXY: "*" },
      });
      const confined = connections;
      await shell.output();
      listener.close();
      await serving;
      assert(!text.startsWith("Exit code: 0"), text);
      assertEquals([confined, connections > 0], [0, true]);
    },
  });
}

async function hasProgram(name: string): Promise<boolean> {
  const { success } = await new Deno.Command("which", { args: [name], stdout: "null" }).output();
  return success;
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
