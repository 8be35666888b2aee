// A client of AG-UI without a library: it sends a message, reads the events of the run and shows them.

const byId = (id) => document.getElementById(id);
const messages = byId("messages");
const threadId = crypto.randomUUID();
/** Elements of texts and tool calls, by the ids of the protocol. */
const elements = new Map();
/** Ids of the elements of the current run. */
const current = new Set();
let stop;

/** Adds an element. All texts of the agent are set as text, never as HTML. */
function add(parent, name, { className = "", text = "" } = {}) {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  parent.append(element);
  return element;
}

/** Runs the agent with a new message, or with the answers to its questions. */
async function run(input) {
  stop = new AbortController();
  setRunning(true);
  try {
    const response = await fetch("agent", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId, runId: crypto.randomUUID(), messages: [], ...input }),
      signal: stop.signal,
    });
    if (!response.ok) throw new Error((await response.json()).error);
    for await (const event of readEvents(response.body)) show(event);
  } catch (error) {
    const text = stop.signal.aborted ? "Stopped" : error.message;
    add(messages, "div", { className: "message error", text });
  } finally {
    setRunning(false);
  }
}

/** Reads server-sent events. */
async function* readEvents(body) {
  let buffer = "";
  for await (const chunk of readTexts(body)) {
    const parts = (buffer + chunk).split("\n\n");
    buffer = parts.pop();
    // Other parts are comments, which keep the connection.
    const data = parts.filter((part) => part.startsWith("data: "));
    for (const part of data) yield JSON.parse(part.slice(6));
  }
}

async function* readTexts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** Keeps the element of an id. */
function keep(id, element) {
  elements.set(id, element);
  current.add(id);
}

function show(event) {
  switch (event.type) {
    case "RUN_STARTED":
      current.clear();
      break;
    case "TEXT_MESSAGE_START":
      keep(event.messageId, add(messages, "div", { className: "message" }));
      break;
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      elements.get(event.messageId)?.append(event.delta);
      break;
    case "REASONING_MESSAGE_START": {
      if (elements.has(event.messageId)) break;
      const details = add(messages, "details", { className: "reasoning" });
      add(details, "summary", { text: "Thoughts" });
      keep(event.messageId, add(details, "div", { className: "message" }));
      break;
    }
    case "TOOL_CALL_START": {
      const className = event.subagentRunId ? "tool nested" : "tool";
      const tool = add(messages, "div", { className });
      add(tool, "strong", { text: event.toolCallName });
      const args = add(tool, "span", { className: "arguments", text: " " });
      keep(event.toolCallId, { tool, args });
      break;
    }
    case "TOOL_CALL_ARGS":
      elements.get(event.toolCallId)?.args.append(event.delta);
      break;
    case "TOOL_CALL_RESULT": {
      const text = typeof event.content === "string" ? event.content : "(a medium)";
      const call = elements.get(event.toolCallId);
      if (call) add(call.tool, "output", { text });
      break;
    }
    case "MESSAGES_SNAPSHOT":
      // A retry takes back what it has written. The messages of earlier runs, which the page does not send, stay.
      removeUnknown(event.messages);
      break;
    case "RUN_FINISHED":
      if (event.outcome?.type === "interrupt") ask(event.outcome.interrupts);
      showUsage(event.usage);
      break;
    case "RUN_ERROR":
      add(messages, "div", { className: "message error", text: event.message });
      break;
  }
}

function removeUnknown(known) {
  const ids = new Set(
    known.flatMap(({ id, toolCalls = [] }) => [id, ...toolCalls.map((c) => c.id)]),
  );
  for (const id of current) {
    if (ids.has(id)) continue;
    const element = elements.get(id);
    (element.tool ?? element).remove();
    elements.delete(id);
    current.delete(id);
  }
  for (const { id, role, content } of known) {
    if (role === "reasoning" && current.has(id)) elements.get(id).textContent = content;
  }
}

/** Asks about the calls that wait, and continues the run when all are answered. */
function ask(interrupts) {
  const answers = [];
  for (const { id } of interrupts) {
    const question = add(elements.get(id)?.tool ?? messages, "div", { className: "question" });
    const answer = (approved) => {
      question.remove();
      answers.push({ interruptId: id, status: "resolved", payload: { approved } });
      if (answers.length === interrupts.length) run({ resume: answers });
    };
    add(question, "button", { className: "allow", text: "Allow" }).onclick = () => answer(true);
    add(question, "button", { className: "refuse", text: "Refuse" }).onclick = () => answer(false);
  }
}

function showUsage(usage = []) {
  byId("status").textContent = usage
    .map(({ model, inputTokens, outputTokens }) =>
      `${model}: ${inputTokens} + ${outputTokens} tokens`
    )
    .join(", ");
}

function setRunning(isRunning) {
  byId("send").hidden = isRunning;
  byId("stop").hidden = !isRunning;
  document.body.dataset.running = isRunning;
}

byId("stop").onclick = () => stop?.abort();
byId("form").onsubmit = (event) => {
  event.preventDefault();
  const content = byId("text").value.trim();
  if (content === "" || document.body.dataset.running === "true") return;
  byId("text").value = "";
  add(messages, "div", { className: "message user", text: content });
  run({ messages: [{ id: crypto.randomUUID(), role: "user", content }] });
};
