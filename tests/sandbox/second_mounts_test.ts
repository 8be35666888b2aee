/**
 * Commands in a directory that is mounted at a second place. Landlock grants a directory at all of its places.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";
import { createDeadline } from "../deadline.ts";

const CHILD_PATH = new URL("./second_mounts_child.ts", import.meta.url).pathname;
const FLAGS = ["run", "--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];

const confinement = await findConfinement();
const canMount = confinement.type === "linux" && confinement.support.landlock > 0 &&
  confinement.support.mounts !== "none";

/** Creates a project with a repository and a file to hide, and a place for its second mount. */
async function createProject() {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  await Deno.mkdir(`${directory}/project/keys`, { recursive: true });
  await Deno.mkdir(`${directory}/second`);
  await Deno.writeTextFile(`${directory}/project/keys/key`, "SECRET\n");
  const args = ["init", "-q", `${directory}/project`];
  await new Deno.Command("git", { args }).output();
  return {
    directory,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

interface MountedRun {
  /** Name of the directory whose file is hidden. */
  readonly hidden: string;
  readonly command: string;
}

/** Runs a command in the project, which is mounted at `second`, too; returns its output. */
async function runMounted(directory: string, { hidden, command }: MountedRun): Promise<string> {
  const project = `${directory}/project`;
  const child = [...FLAGS, CHILD_PATH, project, `${directory}/${hidden}/keys`, command];
  const { stdout } = await new Deno.Command("unshare", {
    args: [
      ...["-rm", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"'],
      ...[project, `${directory}/second`, Deno.execPath(), ...child],
    ],
    stderr: "inherit",
    signal: createDeadline(),
  }).output();
  return new TextDecoder().decode(stdout);
}

for (const hidden of ["project", "second"]) {
  Deno.test({
    name: `sandbox: a path that is hidden in ${hidden} is hidden at both places of the directory`,
    ignore: !canMount,
    async fn() {
      await using project = await createProject();
      const command = "cat keys/key ../second/keys/key; ls keys ../second/keys; echo end";
      const output = await runMounted(project.directory, { hidden, command });
      assertEquals(output.includes("SECRET"), false, output);
      assertEquals(output.endsWith("end\n"), true, output);
    },
  });
}

Deno.test({
  name: "sandbox: the settings of git are read-only at both places of a directory",
  ignore: !canMount,
  async fn() {
    await using project = await createProject();
    const config = `${project.directory}/project/.git/config`;
    const before = await Deno.readTextFile(config);
    const command = "exec 2>&1; echo '# x' >> ../second/.git/config; " +
      "echo x > ../second/.git/hooks/pre-commit; mv ../second/.git ../second/moved; echo y > y";
    const output = await runMounted(project.directory, { hidden: "project", command });
    assertEquals(await Deno.readTextFile(config), before, output);
    const names = [...Deno.readDirSync(`${project.directory}/project/.git/hooks`)];
    assertEquals(names.some(({ name }) => name === "pre-commit"), false, output);
    assertEquals(await Deno.readTextFile(`${project.directory}/project/y`), "y\n");
  },
});
