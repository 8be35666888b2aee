import { assert, assertEquals } from "@std/assert";
import { parse } from "yaml";
import { TARGETS } from "../scripts/compile/compile.ts";
import { root } from "./project.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly env?: Readonly<Record<string, string>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

async function readWorkflow(name: string): Promise<Workflow> {
  return parse(await Deno.readTextFile(new URL(`.github/workflows/${name}.yml`, root)));
}

const [ci, release] = await Promise.all(["ci", "release"].map(readWorkflow));
assert(ci && release);

Deno.test("workflows: CI runs all checks on three systems with Deno stable and canary", () => {
  assertEquals(ci.jobs["test"]?.strategy?.matrix, {
    os: ["ubuntu-latest", "macos-latest", "windows-latest"],
    deno: ["stable", "canary"],
  });
  assertEquals(ci.jobs["test"]?.steps.some(({ run }) => run === "deno task ok"), true);
});

Deno.test("workflows: a release compiles for every target after its checks, and then publishes what cannot be taken back", () => {
  assertEquals(release.jobs["compile"]?.strategy?.matrix["target"], [...TARGETS]);
  assertEquals(release.jobs["compile"]?.needs, "check");
  assertEquals(release.jobs["publish"]?.needs, ["check", "compile"]);
  assertEquals(release.jobs["release"]?.needs, ["publish", "compile"]);
});

Deno.test(
  "workflows: the release of a tag such as v1.0.0-rc.1 is a pre-release, and not the latest one",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const script = release.jobs["release"]?.steps.at(-1)?.run ?? "";
    const [, ...lines] = script.split("\n"); // The first line writes the notes.
    const createRelease = async (tag: string) => {
      const { stdout } = await new Deno.Command("bash", {
        args: ["-euc", `gh() { echo "$@"; }\n${lines.join("\n")}`],
        env: { GITHUB_REF_NAME: tag },
      }).output();
      return new TextDecoder().decode(stdout).split(" ").includes("--prerelease");
    };
    assertEquals(await createRelease("v1.0.0-rc.1"), true);
    assertEquals(await createRelease("v1.0.0"), false);
  },
);

Deno.test("workflows: what is tested on three systems and released has the packages of JSR, and not those that replace them", () => {
  assertEquals(ci.jobs["test"]?.env, { SWINK_PACKAGES: "jsr" });
  assertEquals(ci.jobs["offline"]?.env, { SWINK_PACKAGES: "offline" });
  assertEquals(release.env, { SWINK_PACKAGES: "jsr" });
});

Deno.test("workflows: only the job that publishes gets an identity, and only the release may write", () => {
  assertEquals(ci.permissions, { contents: "read" });
  assertEquals(release.permissions, {});
  const permissions = Object.entries(release.jobs).map(([name, job]) => [name, job.permissions]);
  assertEquals(Object.fromEntries(permissions), {
    check: { contents: "read" },
    publish: { contents: "read", "id-token": "write" },
    compile: { contents: "read" },
    release: { contents: "write" },
  });
});

Deno.test("workflows: jobs have a time limit, and their tasks and scripts exist", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  for (const [name, job] of [...Object.entries(ci.jobs), ...Object.entries(release.jobs)]) {
    assert(job["timeout-minutes"], name);
    const commands = job.steps.map(({ run = "" }) => run).join("\n");
    for (const [, task = ""] of commands.matchAll(/(?:deno|deno@2) task ([\w:]+)/g)) {
      assert(Object.hasOwn(tasks, task), `${name}: ${task}`);
    }
    for (const [path] of commands.matchAll(/scripts\/[\w/]+\.ts/g)) {
      assert((await Deno.stat(new URL(path, root))).isFile, `${name}: ${path}`);
    }
  }
});
