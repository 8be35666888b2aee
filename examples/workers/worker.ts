// A worker: executes runs, and continues those of workers that have ended. POST /runs/ID starts a run with the prompt in
// the body, GET /runs/ID returns its status, and DELETE /runs/ID aborts it.

import { DbosEngine } from "@swink/agent/durable/dbos";
import { createWorkflow } from "./workflow.ts";

const [databaseUrl = "", port = "8081", directory = "."] = Deno.args;

const engine = new DbosEngine({ databaseUrl });
const notes = engine.register("notes", createWorkflow(directory));
await engine.start();

async function handle(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, id] = /^\/runs\/([\w-]{1,100})$/.exec(pathname) ?? [];
  if (id === undefined) return new Response("Not found", { status: 404 });
  switch (request.method) {
    case "POST":
      await notes.start(await request.text(), { id });
      return Response.json({ id }, { status: 202 });
    case "GET":
      return Response.json({ id, status: await engine.getRun(id).status() ?? "unknown" });
    case "DELETE":
      await engine.getRun(id).abort("deleted by a client");
      return new Response(null, { status: 202 });
    default:
      return new Response("Method not allowed", { status: 405 });
  }
}

const server = Deno.serve({ hostname: "127.0.0.1", port: Number(port) }, handle);

// The steps that are executed end; the other worker continues the runs.
Deno.addSignalListener("SIGTERM", async () => {
  await server.shutdown();
  await engine.close();
  Deno.exit(0);
});
