import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { readProjectPrograms } from "../project/project_content.ts";
import { formatConfigProblem } from "./config_value.ts";
import { type ConfigSources, loadConfig } from "./load_config.ts";

/** Loads the configuration; returns the values with the types of their sources, and the problems. */
async function load(sources: ConfigSources, env: Readonly<Record<string, string>> = {}) {
  const { settings, problems } = await loadConfig(sources, (name) => env[name]);
  return {
    values: Object.fromEntries(
      [...settings.values()].map(({ key, value, origin }) => [key, [value, origin.type]]),
    ),
    problems: problems.map(formatConfigProblem),
  };
}

Deno.test("loadConfig(): later sources precede earlier ones", async () => {
  await using home = await createTemporaryDirectory({
    "config/config.toml": 'model = "user/a"\nmax_turns = 1\nplain = true\nsystem = "user"\n',
    "project/.swink/config.toml": 'model = "project/a"\nmax_turns = 2\nsystem = "project"\n',
  });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const sources = { directories, programs: await readProjectPrograms(`${home.path}/project`) };
  const env = { SWINK_MODEL: "env/a", SWINK_MAX_TURNS: "3", SWINK_SANDBOX: "" };
  assertEquals(await load({ ...sources, overrides: ["max_turns=4"] }, env), {
    values: {
      model: ["env/a", "environment"],
      max_turns: [4, "override"],
      plain: [true, "user"],
      system: ["project", "project"],
    },
    problems: [],
  });
  assertEquals((await load({ directories })).values.model, ["user/a", "user"]);
});

Deno.test("loadConfig(): forbidden tools of all sources add up", async () => {
  await using home = await createTemporaryDirectory({
    "config/config.toml": 'disallowed_tools = ["a"]\n',
    "project/.swink/config.toml": 'disallowed_tools = ["b"]\n',
  });
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const { values } = await load({
    directories,
    programs: await readProjectPrograms(`${home.path}/project`),
    overrides: ["disallowed_tools=['d', 'e']"],
  }, { SWINK_DISALLOWED_TOOLS: "c" });
  assertEquals(values.disallowed_tools, [["a", "b", "c", "d", "e"], "override"]);
});

Deno.test("loadConfig(): without files, variables and overrides there are no settings", async () => {
  const directories = { config: "/missing/config", state: "/missing/state" };
  assertEquals(await load({ directories, programs: await readProjectPrograms("/missing") }), {
    values: {},
    problems: [],
  });
  assertEquals(await load({}), { values: {}, problems: [] });
});

Deno.test("loadConfig(): reports a file that cannot be read", async () => {
  await using home = await createTemporaryDirectory({
    "config/config.toml/x": "",
    "secret.toml": 'model = "a/b"\n',
    "project/.swink/x": "",
  });
  await Deno.symlink(`${home.path}/secret.toml`, `${home.path}/project/.swink/config.toml`);
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  const { values, problems } = await load({
    directories,
    programs: await readProjectPrograms(`${home.path}/project`),
  });
  assertEquals(values, {});
  assertEquals(problems, [
    `${home.path}/config/config.toml: The file is a directory, not a regular file`,
    `${home.path}/project/.swink/config.toml: The file is a link to a file outside of its directory`,
  ]);
});

Deno.test("loadConfig(): the user's file may be a link", async () => {
  await using home = await createTemporaryDirectory({
    "dotfiles/swink.toml": 'model = "a/b"\n',
    "config/x": "",
  });
  await Deno.symlink(`${home.path}/dotfiles/swink.toml`, `${home.path}/config/config.toml`);
  const directories = { config: `${home.path}/config`, state: `${home.path}/state` };
  assertEquals((await load({ directories })).values.model, ["a/b", "user"]);
});

Deno.test("loadConfig(): reports invalid variables and overrides", async () => {
  const overrides = ["plain", "=1", "modle=x", "max_turns=x", "env=[1", "env=[1]", 'model="a/b"'];
  const { values, problems } = await load({ overrides }, { SWINK_MAX_TURNS: "many" });
  assertEquals(values, { model: ["a/b", "override"] });
  assertEquals(problems, [
    'SWINK_MAX_TURNS: max_turns must be an integer, not "many"',
    "--config plain: Write it as KEY=VALUE",
    "--config =1: Write it as KEY=VALUE",
    '--config modle=x: Unknown key "modle". Did you mean model?',
    '--config max_turns=x: max_turns must be an integer, not "x"',
    "--config env=[1: The value [1 is not valid TOML",
    "--config env=[1]: env must be a list of strings, not [1]",
  ]);
});
