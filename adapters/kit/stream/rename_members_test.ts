import { assertEquals } from "@std/assert";
import { renameMembers } from "./rename_members.ts";

const rename = (name: string) => ({ a: "$top", "b_": 'filter["x"]' })[name] ?? name;

/** A JSON text, and the same with other names. */
const TEXTS: readonly (readonly [string, string])[] = [
  ['{"a":1}', '{"$top":1}'],
  [
    ' { "a" : 12345678901234567890 , "b_":1e400 } ',
    ' { "$top" : 12345678901234567890 , "filter[\\"x\\"]":1e400 } ',
  ],
  ['{"x":{"a":1},"y":["a",{"a":2}],"a":"a"}', '{"x":{"a":1},"y":["a",{"a":2}],"$top":"a"}'],
  ['{"x":"\\",\\"a\\":","a":"}\\\\"}', '{"x":"\\",\\"a\\":","$top":"}\\\\"}'],
  ['{"\\u0061":1}', '{"$top":1}'],
  ['{"x":[],"a":[]}', '{"x":[],"$top":[]}'],
  ['{"c":1}', '{"c":1}'],
  ['["a","a"]', '["a","a"]'],
  ['"a"', '"a"'],
  ["", ""],
  ['{"a":"b', '{"$top":"b'],
  ['{"a', '{"a'],
  ['{"a\\', '{"a\\'],
  ["}}{]", "}}{]"],
];

Deno.test("renameMembers(): changes only the names of the object's own members", () => {
  for (const [json, expected] of TEXTS) assertEquals(renameMembers(json, rename), expected, json);
});

Deno.test("renameMembers(): reads a text of 1 MB with unterminated strings in linear time", () => {
  const text = `{"a":"${'\\"'.repeat(500_000)}`;
  assertEquals(renameMembers(text, rename), text.replace('"a"', '"$top"'));
});
