import { assertEquals } from "@std/assert";
import { checkConfigText, checkConfigValue } from "./check_config_value.ts";
import { findConfigKey } from "./config_tables.ts";

/** Returns the checked value, or the message. */
function check(key: string, value: unknown): unknown {
  const definition = findConfigKey(key);
  if (!definition) throw new Error(`No key ${key}`);
  const checked = checkConfigValue(definition, value);
  return checked.type === "valid" ? checked.value : checked.message;
}

function checkText(key: string, text: string): unknown {
  const definition = findConfigKey(key);
  if (!definition) throw new Error(`No key ${key}`);
  const checked = checkConfigText(definition, text);
  return checked.type === "valid" ? checked.value : checked.message;
}

Deno.test("checkConfigValue(): accepts values of the type of the option", () => {
  assertEquals(check("max_turns", 5), 5);
  assertEquals(check("plain", false), false);
  assertEquals(check("model", "a/b"), "a/b");
  assertEquals(check("allowed_tools", ["read_file"]), ["read_file"]);
  assertEquals(check("allowed_tools", "read_file"), ["read_file"]);
});

Deno.test("checkConfigValue(): rejects other types, and says which one is expected", () => {
  assertEquals(check("max_turns", "5"), 'max_turns must be an integer, not "5"');
  assertEquals(check("max_turns", 1.5), "max_turns must be an integer, not 1.5");
  assertEquals(check("max_turns", 0), "max_turns must be at least 1, not 0");
  assertEquals(check("plain", "yes"), 'plain must be true or false, not "yes"');
  assertEquals(check("model", ""), "model must not be empty");
  assertEquals(check("model", ["a"]), 'model must be a string, not ["a"]');
  assertEquals(check("model", {}), "model must be a string, not a table");
  assertEquals(check("model", new Date(0)), "model must be a string, not a date");
  assertEquals(check("allowed_tools", [1]), "allowed_tools must be a list of strings, not [1]");
});

Deno.test("checkConfigValue(): the base URL of a provider is a URL of HTTP", () => {
  const key = "providers.lab.base_url";
  const message = `${key} must be a URL such as https://host/path`;
  assertEquals(check(key, "http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1");
  for (const value of ["ftp://host", "host/path", "localhost:8080", "htp://u:secret@host"]) {
    assertEquals([check(key, value), checkText(key, value)], [message, message]);
  }
});

Deno.test("checkConfigValue(): suggests a choice", () => {
  assertEquals(
    check("sandbox", "requird"),
    'sandbox must be one of auto, required, off, not "requird". Did you mean required?',
  );
});

Deno.test("checkConfigValue(): cuts a long value in the message", () => {
  const message = String(check("max_turns", "x".repeat(1_000)));
  assertEquals(message.length, "max_turns must be an integer, not ".length + 58);
});

Deno.test("checkConfigText(): parses the text of a variable", () => {
  assertEquals(checkText("max_turns", " 7 "), 7);
  assertEquals(checkText("max_turns", "7x"), 'max_turns must be an integer, not "7x"');
  for (const text of ["1", "true", "YES", "on"]) assertEquals(checkText("plain", text), true);
  for (const text of ["0", "false", "No", "off"]) assertEquals(checkText("plain", text), false);
  assertEquals(checkText("plain", "maybe"), 'plain must be true or false, not "maybe"');
  assertEquals(checkText("allowed_tools", "a,b(c d)"), ["a,b(c d)"]);
});
