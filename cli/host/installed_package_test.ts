import { assertEquals } from "@std/assert";
import { describeMissingPackage, type Installation } from "./installed_package.ts";

const INSTALLED: Installation = {
  url: "file:///usr/lib/node_modules/@swink/agent/cli/host/installed_package.js",
  resolve: (name) => `file:///usr/lib/node_modules/${name}/index.js`,
};

function refuse(name: string): string {
  throw new Error(`Could not find package '${name}'`);
}

Deno.test("describeMissingPackage(): only the npm package needs a package that is installed", () => {
  const describe = (installation?: Installation) =>
    describeMissingPackage("other", "MCP servers", installation);
  assertEquals(describe(), undefined);
  assertEquals(describe(INSTALLED), undefined);
  const url = "https://packages.test/@swink/agent/cli/host/installed_package.ts";
  assertEquals(describe({ url, resolve: refuse }), undefined);
  assertEquals(
    describe({ ...INSTALLED, resolve: refuse }),
    "MCP servers need the npm package other: npm install other, with --global if swink is installed globally",
  );
});
