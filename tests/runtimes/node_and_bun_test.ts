import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { VERSION } from "../../cli/host/version.ts";
import { createTinyModel } from "../local/tiny_model.ts";
import { readPublicModules } from "../project.ts";
import { compileTests } from "./compile_tests.ts";
import { listPortableTests } from "./portable_tests.ts";
import { isInstalled, LLAMA_DIRECTORY, runModule, runTests, RUNTIMES } from "./runtimes.ts";
import { getSharedApp, shareTestApp } from "./shared_app.ts";

const hasLlama = await Deno.stat(LLAMA_DIRECTORY).then(() => true, () => false);

/** The reply begins a call, whose city is the only one of the schema. */
const SCRIPTS = [
  [
    "<|weather|>",
    "<tool_call>",
    '\n{"name": "weather"',
    ', "arguments": {"city": "Bern"}}',
    "\n</tool_call>",
    "<|im_end|>",
  ],
  ["<|answer|>", "It", " is", " sunny", "<|im_end|>"],
];

const LOCAL_PROGRAM = `
import { Agent, defineTool } from "@swink/agent";
import { createEmbedder, createLocal } from "@swink/agent/local";
const options = { threads: 1, gpu: false, contextSize: 1024 };
const streamFn = createLocal({ model: "./chat.gguf", ...options });
const cities = [];
const weather = defineTool({
  name: "weather",
  description: "Reports the weather",
  parameters: { type: "object", properties: { city: { enum: ["Bern"] } }, required: ["city"] },
  execute: ({ city }) => Promise.resolve(void cities.push(city) ?? "sunny"),
});
const agent = new Agent({ model: "local/chat", streamFn, tools: [weather] });
const { text } = await agent.prompt("!weather", { streamOptions: { temperature: 0 } });
console.log(text + "\\n" + cities);
const embedder = createEmbedder({ model: "./vectors.gguf", ...options });
const vectors = await embedder.embed(["a", "b"]);
console.log(vectors.length + " of " + vectors[0].length);
await embedder.model.unload();
await streamFn.unload();
console.log(embedder.model.state.type);
`;

/** Makes a program of Node believe that it runs on Windows. */
const PRETEND_WINDOWS =
  `--import=data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})`;

const tests = await listPortableTests(["tests/acceptance", "tests/runtimes/library"]);

const getTestsApp = shareTestApp(({ path }) => compileTests(tests, path));

const getLlamaApp = shareTestApp(async ({ path }) => {
  await Deno.symlink(LLAMA_DIRECTORY, `${path}/node_modules/node-llama-cpp`);
  await Deno.writeFile(`${path}/chat.gguf`, createTinyModel({ scripts: SCRIPTS }));
  await Deno.writeFile(`${path}/vectors.gguf`, createTinyModel({ pooling: "mean" }));
  await Deno.writeTextFile(`${path}/local.js`, LOCAL_PROGRAM);
});

for (const runtime of RUNTIMES) {
  Deno.test({
    name: `npm package, ${runtime.name}: passes the acceptance tests and the tests of the library`,
    ignore: !isInstalled(runtime),
    async fn() {
      const app = await getTestsApp();
      const { success, passed, text } = await runTests(runtime, app, tests);
      assert(success, text);
      assert(passed > tests.length, `only ${passed} tests ran:\n${text}`);
    },
  });

  Deno.test({
    name: `npm package, ${runtime.name}: every public module can be imported and prints nothing`,
    ignore: !isInstalled(runtime),
    async fn() {
      const app = await getSharedApp();
      const modules = Object.keys(await readPublicModules());
      const imports = modules.map((module) => `import "@swink/agent${module.slice(1)}";`);
      await Deno.writeTextFile(`${app.path}/imports.js`, imports.join("\n"));
      assertEquals(await runModule(runtime, app, ["imports.js"]), { success: true, text: "" });
    },
  });

  Deno.test({
    name: `npm package, ${runtime.name}: CommonJS code loads the library with require()`,
    ignore: !isInstalled(runtime),
    async fn() {
      const app = await getSharedApp();
      const program = `console.log(typeof require("@swink/agent").Agent,
        typeof require("@swink/agent/memory").openSession);`;
      await Deno.writeTextFile(`${app.path}/program.cjs`, program);
      const { success, text } = await runModule(runtime, app, ["program.cjs"]);
      assertEquals([success, text.split("\n")[0]], [true, "function function"]);
    },
  });

  Deno.test({
    name:
      `npm package, ${runtime.name}: swink runs on the deno program in PATH, and names it if there is none`,
    ignore: !isInstalled(runtime),
    async fn() {
      const app = await getSharedApp();
      const args = ["node_modules/@swink/agent/bin/swink.js", "--version"];
      const PATH = Deno.execPath().replace(/[^/]*$/, "");
      const env = { PATH, NO_COLOR: "1" };
      assertEquals(await runModule(runtime, app, args, env), {
        success: true,
        text: `${VERSION}\n`,
      });
      const { text: help } = await runModule(runtime, app, [...args.slice(0, 1), "--help"], env);
      assertStringIncludes(help, "Usage:"); // printed by a module that is loaded late
      const missing = await runModule(runtime, app, args, { PATH: app.path });
      assertEquals(missing.success, false);
      assertStringIncludes(missing.text, "Install it: npm install --global deno");
      if (runtime.name !== "Bun") {
        const onWindows = await runModule(runtime, app, [PRETEND_WINDOWS, ...args], {
          PATH: app.path,
        });
        assertStringIncludes(onWindows.text, "Install it: winget install DenoLand.Deno");
      }
      await Deno.writeFile(`${app.path}/tiny.gguf`, createTinyModel());
      const prompt = ["run", "--no-session", "-m", "local/./tiny.gguf", "Hi"];
      const homes = { XDG_CONFIG_HOME: app.path, XDG_STATE_HOME: app.path };
      const local = await runModule(runtime, app, [...args.slice(0, 1), ...prompt], {
        ...env,
        ...homes,
      });
      assertEquals(local.success, false);
      assertStringIncludes(local.text, "Install it with: npm install node-llama-cpp@");
      assertStringIncludes(local.text, "Could not find package 'node-llama-cpp'");
    },
  });

  Deno.test({
    name: `npm package, ${runtime.name}: models on this device reply, call tools and embed texts`,
    ignore: !isInstalled(runtime) || !hasLlama,
    async fn() {
      const app = await getLlamaApp();
      const { success, text } = await runModule(runtime, app, ["local.js"]);
      assertEquals([success, text], [true, "It is sunny\nBern\n2 of 32\nunloaded\n"]);
    },
  });
}
