import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { matchRoute } from "./match_route.ts";

const routes = [
  { method: "GET", path: "/v1/sessions" },
  { method: "POST", path: "/v1/sessions" },
  { method: "GET", path: "/v1/sessions/{id}" },
  { method: "GET", path: "/v1/sessions/{id}/events" },
];

function match(path: string, method = "GET") {
  return matchRoute(routes, method, path);
}

Deno.test("matchRoute(): finds a route and decodes its parameters", () => {
  assertEquals(match("/v1/sessions/a%20b"), {
    type: "matched",
    route: { method: "GET", path: "/v1/sessions/{id}" },
    parameters: { id: "a b" },
  });
  assertEquals(match("/v1/%73essions").type, "matched");
});

Deno.test("matchRoute(): lists the methods of a path when the method is another", () => {
  assertEquals(match("/v1/sessions", "PUT"), { type: "other_method", methods: ["GET", "POST"] });
});

Deno.test("matchRoute(): knows no path with empty, additional or malformed segments", () => {
  const paths = [
    ...[
      "",
      "/",
      "//v1/sessions",
      "/v1/sessions/",
      "/v1//sessions",
      "/v1/sessions/a/",
      "/V1/sessions",
    ],
    ...["/v1/sessions/%", "/v1/sessions/%ff", "/v1/sessions/%00", "/v1/sessions/%0a"],
    ...["/v1/sessions/a%2Fevents", "/v1/sessions/a%5Cb", "/v1/sessions/a/events/b"],
    `/v1/sessions/${"a".repeat(3000)}`,
  ];
  for (const path of paths) assertEquals(match(path), { type: "unknown" }, path);
});

Deno.test("matchRoute(): returns the id that was encoded", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), (id) => {
    // deno-lint-ignore no-control-regex -- those are refused
    fc.pre(id.isWellFormed() && !/[\x00-\x1f\x7f/\\]/.test(id));
    const found = match(`/v1/sessions/${encodeURIComponent(id)}`);
    assertEquals(found.type === "matched" ? found.parameters["id"] : found.type, id);
  }));
});
