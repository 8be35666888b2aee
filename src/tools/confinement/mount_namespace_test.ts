import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startProcess } from "../process/running_process.ts";
import { confineLaunch, findConfinement } from "./confinement.ts";
import type { MountSupport } from "./confinement_policy.ts";
import { listParents } from "./mount_namespace.ts";

const confinement = await findConfinement();
const support = confinement.type === "linux" ? confinement.support : undefined;
const canMount = support !== undefined && support.mounts !== "none";
const MODES: readonly MountSupport[] = Deno.uid() === 0
  ? ["direct", "user_namespace"]
  : ["user_namespace"];

/** A directory with settings and a secret. */
async function createProject() {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  await Deno.mkdir(`${directory}/a/b`, { recursive: true });
  await Deno.writeTextFile(`${directory}/a/b/kept`, "kept\n");
  await Deno.writeTextFile(`${directory}/secret`, "SECRET\n");
  await Deno.mkdir(`${directory}/keys`);
  await Deno.writeTextFile(`${directory}/keys/key`, "SECRET\n");
  return {
    directory,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

interface ConfinedRun {
  readonly mounts: MountSupport;
  readonly command: string;
  /** More read-only paths. Default: one that is missing. */
  readonly readOnly?: readonly string[];
}

/** Runs a command in a directory whose `a/b` is read-only, and whose `secret` and `keys` are hidden. */
async function runConfined(
  directory: string,
  { mounts, command, readOnly = [`${directory}/missing`] }: ConfinedRun,
) {
  const launch = {
    program: "/bin/bash",
    args: ["-c", `exec 2>&1; ${command}`],
    cwd: `${directory}/a/b`,
    env: { PATH: "/usr/bin:/bin" },
  };
  const process = startProcess(
    confineLaunch(launch, {
      type: "linux",
      support: { landlock: 7, seccomp: true, ...support, mounts },
    }, {
      writable: [directory, "/dev/null"],
      readable: ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"],
      hidden: ["secret", "keys", "keys/key"].map((name) => `${directory}/${name}`).concat(
        "/etc/shadow",
      ),
      readOnly: mounts === "none" ? [] : [`${directory}/a/b`, ...readOnly],
      network: { type: "off" },
      unixSockets: false,
    }),
  );
  const text = await new Response(process.output).text();
  return { text, code: (await process.exited).code };
}

const ATTACK =
  "echo x > kept; echo x > new; cd ../..; echo x > a/b/new; mv a/b a/c; mv a c; rm -rf a; " +
  "cat secret keys/*; mv keys k; cat k/*; echo x > secret; echo x > keys/new; mv secret s; cat s; " +
  "cp secret t; cat t; ln secret u; cat u; umount a/b; umount -l keys; echo x > a/other; echo done";

for (const mounts of MODES) {
  Deno.test({
    name: `mount namespace, ${mounts}: read-only and hidden paths of a writable directory stay so`,
    ignore: !canMount,
    async fn() {
      await using project = await createProject();
      const { directory } = project;
      const { text, code } = await runConfined(directory, { mounts, command: ATTACK });
      assertEquals(code, 0, text);
      assertStringIncludes(text, "done\n");
      assert(!text.includes("SECRET"), text);
      assertEquals(await Deno.readTextFile(`${directory}/a/b/kept`), "kept\n");
      assertEquals([...Deno.readDirSync(`${directory}/a/b`)].length, 1);
      assertEquals(await Deno.readTextFile(`${directory}/secret`), "SECRET\n");
      assertEquals([...Deno.readDirSync(`${directory}/keys`)].map(({ name }) => name), ["key"]);
      assertEquals(await Deno.readTextFile(`${directory}/a/other`), "x\n");
    },
  });

  Deno.test({
    name:
      `mount namespace, ${mounts}: a command has the ids and the signals of its user, and no rights of the namespace`,
    ignore: !canMount,
    async fn() {
      await using project = await createProject();
      const run = (command: string) => runConfined(project.directory, { mounts, command });
      const { text } = await run(
        "id -u; id -g; grep -E 'CapEff|CapAmb|NoNewPrivs' /proc/self/status",
      );
      assertStringIncludes(text, `${Deno.uid()}\n${Deno.gid()}\n`);
      assertStringIncludes(text, "CapAmb:\t0000000000000000");
      assertStringIncludes(
        text,
        Deno.uid() === 0 ? "CapEff:\t00000000000000fb" : "CapEff:\t0000000000000000",
      );
      assertStringIncludes(text, "NoNewPrivs:\t1");
      assertEquals((await run("kill -9 $$")).code, 137);
    },
  });
}

Deno.test({
  name:
    "mount namespace: without one, hidden paths of a writable directory are not granted, nor is that directory",
  ignore: support === undefined || support.landlock < 3,
  async fn() {
    await using project = await createProject();
    const { text } = await runConfined(project.directory, {
      mounts: "none",
      command: `${ATTACK}; echo y > b; echo z > new`,
    });
    assert(!text.includes("SECRET"), text);
    assertEquals(await Deno.readTextFile(`${project.directory}/secret`), "SECRET\n");
    assertEquals([...Deno.readDirSync(`${project.directory}/keys`)].length, 1);
    assertEquals([...Deno.readDirSync(project.directory)].map(({ name }) => name).sort(), [
      "a",
      "keys",
      "secret",
    ]);
  },
});

Deno.test("listParents(): lists the directories between the writable ones and the paths, outermost first", () => {
  const paths = ["/p/.git/modules/a/config", "/p/.git/hooks", "/p/.git", "/q/x/y"];
  assertEquals(listParents(paths, ["/p"]), ["/p/.git", "/p/.git/modules", "/p/.git/modules/a"]);
  assertEquals(listParents(["/p/.git/hooks"], ["/", "/p"]), ["/p", "/p/.git"]);
});

Deno.test({
  name: "mount namespace: a command does not run when a path cannot be protected",
  ignore: !canMount,
  async fn() {
    await using project = await createProject();
    const { directory } = project;
    const [mounts = "none"] = MODES;
    const { text, code } = await runConfined(directory, {
      mounts,
      command: "echo ran",
      readOnly: [`${directory}/secret/x`],
    });
    assertEquals(code, 125);
    assertStringIncludes(
      text,
      `Cannot set up the sandbox: the kernel refused to protect ${directory}/secret/x`,
    );
    assert(!text.includes("ran\n"), text);
  },
});

Deno.test({
  name: "mount namespace: a path that has become a link is not followed",
  ignore: !canMount,
  async fn() {
    await using project = await createProject();
    const { directory } = project;
    await Deno.symlink("a", `${directory}/link`);
    const [mounts = "none"] = MODES;
    const command = `readlink ${directory}/link; echo x > ${directory}/a/new && echo written`;
    const { text } = await runConfined(directory, {
      mounts,
      command,
      readOnly: [`${directory}/link`],
    });
    assertEquals(text, "a\nwritten\n");
  },
});
