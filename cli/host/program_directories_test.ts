import { assertEquals } from "@std/assert";
import { getProgramDirectories } from "./program_directories.ts";

function get(os: string, env: Readonly<Record<string, string>>) {
  return getProgramDirectories((name) => env[name], os);
}

Deno.test("getProgramDirectories(): follows the conventions of the system", () => {
  assertEquals(get("linux", { HOME: "/home/eva" }), {
    config: "/home/eva/.config/swink",
    state: "/home/eva/.local/state/swink",
  });
  assertEquals(get("darwin", { HOME: "/Users/eva" }), {
    config: "/Users/eva/Library/Application Support/swink",
    state: "/Users/eva/Library/Application Support/swink",
  });
});

Deno.test("getProgramDirectories(): the XDG variables come first, if they are absolute", () => {
  const env = { HOME: "/home/eva", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  assertEquals(get("linux", env), { config: "/c/swink", state: "/s/swink" });
  assertEquals(get("darwin", env), { config: "/c/swink", state: "/s/swink" });
  assertEquals(
    get("linux", { ...env, XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" })?.config,
    "/home/eva/.config/swink",
  );
});

Deno.test("getProgramDirectories(): there are none without a home directory", () => {
  assertEquals(get("linux", {}), undefined);
  assertEquals(get("linux", { HOME: "" }), undefined);
  assertEquals(get("windows", {}), undefined);
});
