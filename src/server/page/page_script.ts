/**
 * The script of the built-in page.
 *
 * All content of sessions becomes text nodes; nothing is parsed as HTML.
 *
 * @module
 */

/** The module, for browsers. */
export const PAGE_SCRIPT = String.raw`
const STORED_TOKEN = "swink-token";
const TYPES = "entry,state,agent_start,message_start,message_update,retry,agent_end";
const element = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.hash.slice(1));
let token = parameters.get("token") ?? sessionStorage.getItem(STORED_TOKEN) ?? "";
if (parameters.has("token")) history.replaceState(null, "", location.pathname);

/** The session that is shown. */
let current;
/** The cursor of the next page of sessions. */
let cursor;

class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(method, path, body, options = {}) {
  const response = await fetch("v1/" + path, {
    ...options,
    method,
    headers: {
      ...(token === "" ? {} : { authorization: "Bearer " + token }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    cache: "no-store",
  });
  if (response.ok) return response;
  let message = "The server answered with status " + response.status;
  try {
    message = (await response.json()).error.message;
  } catch {
    // A proxy has answered.
  }
  if (response.status === 401) showLogin(message);
  throw new RequestError(response.status, message);
}

function create(name, text, properties = {}) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  return Object.assign(node, properties);
}

function showLogin(message) {
  stop();
  sessionStorage.removeItem(STORED_TOKEN);
  element("app").hidden = true;
  element("login").hidden = false;
  element("login-problem").textContent = token === "" ? "" : message;
  element("token").focus();
}

function showProblem(error) {
  element("problem").textContent = error ? error.message : "";
}

/** Runs an action of the user and shows its failure. */
function act(action) {
  return async (event) => {
    event?.preventDefault();
    showProblem();
    try {
      await action(event);
    } catch (error) {
      showProblem(error);
    }
  };
}

/** Shows the sessions. A server without authentication accepts requests without a token. */
async function signIn() {
  await listSessions();
  sessionStorage.setItem(STORED_TOKEN, token);
  element("login").hidden = true;
  element("app").hidden = false;
}

async function listSessions(more = false) {
  const query = "?limit=50" + (more && cursor ? "&cursor=" + encodeURIComponent(cursor) : "");
  const page = await (await request("GET", "sessions" + query)).json();
  cursor = page.cursor;
  const list = element("sessions");
  const items = page.sessions.map((session) => {
    const item = create("li");
    const button = create("button");
    const name = session.title ?? session.firstPrompt ?? session.id;
    if (session.id === current?.id) element("title").textContent = name;
    button.append(create("span", name), create("span", session.isRunning ? "running" : ""));
    button.title = name;
    button.dataset.id = session.id;
    if (session.id === current?.id) button.setAttribute("aria-current", "true");
    button.addEventListener("click", act(() => openSession(session.id, name)));
    item.append(button);
    return item;
  });
  if (more) list.append(...items);
  else list.replaceChildren(...items);
  element("more").hidden = cursor === undefined;
}

function stop() {
  current?.controller.abort();
  current = undefined;
}

async function openSession(id, name) {
  stop();
  current = { id, controller: new AbortController(), isActive: false, calls: [] };
  element("empty").hidden = true;
  element("session").hidden = false;
  element("title").textContent = name;
  element("transcript").replaceChildren();
  element("text").focus();
  for (const button of element("sessions").querySelectorAll("button")) {
    if (button.dataset.id === id) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  showState({ status: "idle", pendingApprovals: [] });
  await watch(current);
}

function closeSession() {
  stop();
  element("session").hidden = true;
  element("empty").hidden = false;
}

/** Reads the events of a session, and connects again when the connection ends. */
async function watch(session) {
  const { signal } = session.controller;
  let pause = 500;
  while (!signal.aborted) {
    try {
      const headers = session.lastId ? { "last-event-id": session.lastId } : {};
      const path = sessionPath("events?types=" + TYPES, session);
      const response = await request("GET", path, undefined, { headers, signal });
      element("connection").textContent = "";
      for await (const event of readEvents(response.body)) {
        if (signal.aborted) return;
        pause = 500;
        if (event.id) session.lastId = event.id;
        onEvent(event);
        if (event.type === "end" && event.data.reason === "session_deleted") return closeSession();
      }
    } catch (error) {
      if (signal.aborted || error.status === 401) return;
      if (error.status === 404) return closeSession();
      if (error.status === 400) session.lastId = undefined;
    }
    if (signal.aborted) return;
    element("connection").textContent = "Connecting again";
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(2 * pause, 10000);
  }
}

async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const event = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parseEvent(frame) {
  const event = {};
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 2);
    if (line.startsWith("id:")) event.id = value;
    if (line.startsWith("event:")) event.type = value;
    if (line.startsWith("data:")) event.data = JSON.parse(value);
  }
  return event.data === undefined ? undefined : event;
}

function onEvent({ type, data }) {
  const transcript = element("transcript");
  const isAtEnd = transcript.scrollHeight - transcript.scrollTop - transcript.clientHeight < 40;
  switch (type) {
    case "reset":
      transcript.replaceChildren();
      current.draft = undefined;
      break;
    case "entry":
      onEntry(data);
      break;
    case "state":
      dropDraft();
      showState(data);
      if (data.streamingMessage) showDraft(data.streamingMessage);
      break;
    case "agent_start":
      showState({ status: "running", pendingApprovals: [] });
      break;
    case "message_start":
      if (data.message.role === "assistant") showDraft(data.message);
      break;
    case "message_update":
      addDelta(data.delta);
      break;
    case "retry":
      if (data.discard) showDraft({ content: [] });
      break;
    case "agent_end":
      dropDraft();
      void listSessions().catch(() => {});
      break;
  }
  if (isAtEnd) transcript.scrollTop = transcript.scrollHeight;
}

function onEntry(entry) {
  switch (entry.type) {
    case "message":
      if (entry.message.role === "assistant") dropDraft();
      element("transcript").append(createMessage(entry.message));
      break;
    case "title":
      element("title").textContent = entry.title;
      break;
    case "run_ended":
      if (entry.error) addNote(entry.error.message, "error");
      else if (entry.stoppedBy) addNote(entry.stoppedBy.reason, "error");
      else if (entry.stopReason === "aborted") addNote("Aborted", "error");
      break;
    case "compaction":
      addNote("Earlier messages were summarized", "note");
      break;
  }
}

function addNote(text, kind) {
  const note = create("article", undefined, { className: kind });
  note.append(create("p", text));
  element("transcript").append(note);
}

const NAMES = { user: "You", assistant: "Agent", tool_result: "Result", custom: "Note" };

function createMessage(message) {
  const article = create("article", undefined, { className: message.role });
  const name = NAMES[message.role] ?? message.role;
  article.append(create("h4", message.role === "tool_result" ? name + " of " + message.toolName : name));
  for (const block of message.content ?? []) article.append(createBlock(block, message));
  if (message.errorMessage) article.append(create("p", message.errorMessage));
  return article;
}

function createBlock(block, { role, isError }) {
  switch (block.type) {
    case "text":
      if (role !== "tool_result") return create("p", block.text);
      return createDetails(isError ? "failed" : "output", block.text, isError);
    case "thinking":
      return createDetails("thinking", block.thinking);
    case "tool_call":
      return createDetails(block.name, formatArguments(block.arguments));
    case "image":
      return createImage(block.source);
    default:
      return create("p", "[" + block.type + "]");
  }
}

function createDetails(summary, text, open = false) {
  const details = create("details", undefined, { open });
  details.append(create("summary", summary), create("pre", text));
  return details;
}

/** Shows an image that is part of the session; one at a URL would be a request to elsewhere. */
function createImage(source) {
  if (source.type !== "base64" || !/^image\/(?:png|jpeg|gif|webp)$/.test(source.mediaType)) {
    return create("p", "[image]");
  }
  const image = create("img", undefined, { alt: "Image of the message" });
  image.src = "data:" + source.mediaType + ";base64," + source.data;
  image.width = 240;
  return image;
}

function showDraft(message) {
  dropDraft();
  const node = createMessage({ role: "assistant", content: message.content });
  current.draft = { node, blocks: [...node.querySelectorAll("p, pre")] };
  element("transcript").append(node);
}

function dropDraft() {
  current?.draft?.node.remove();
  if (current) current.draft = undefined;
}

function addDelta(delta) {
  if (!current.draft) showDraft({ content: [] });
  const { node, blocks } = current.draft;
  let block = blocks[delta.contentIndex];
  if (!block) {
    const kinds = { text_delta: "text", thinking_delta: "thinking" };
    const kind = kinds[delta.type];
    const created = kind === "text"
      ? create("p", "")
      : createDetails(delta.name ?? "thinking", "", true);
    node.append(created);
    block = kind === "text" ? created : created.querySelector("pre");
    blocks[delta.contentIndex] = block;
  }
  if (delta.delta !== undefined) block.append(delta.delta);
}

const STATUS = {
  idle: "idle",
  running: "running",
  awaiting_approval: "waits for approval",
  interrupted: "interrupted",
};

function showState({ status, pendingApprovals, runId }) {
  const isWaiting = status === "awaiting_approval";
  // A durable run that waits for decisions can be aborted, and refuses prompts.
  const isActive = status === "running" || isWaiting && runId !== undefined;
  current.isActive = isActive;
  element("status").textContent = STATUS[status];
  element("status").dataset.status = status;
  element("abort").hidden = !isActive;
  element("steer").hidden = !isActive;
  element("follow").hidden = !isActive;
  element("send").hidden = isActive;
  element("delete").hidden = isActive;
  element("continue").hidden = status !== "interrupted";
  const isDenial = isWaiting && !isActive;
  element("text").placeholder = isDenial ? "A message instead of decisions denies the calls" : "";
  showApprovals(isWaiting ? pendingApprovals : []);
}

function showApprovals(calls) {
  current.calls = calls;
  element("approvals").hidden = calls.length === 0;
  element("calls").replaceChildren(...calls.map(createCall));
}

/** Shows characters that a browser hides or that change the order of a text, since they decide what a call does. */
function formatArguments(value) {
  return JSON.stringify(value, null, 2).replace(/[\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, (character) =>
    "<U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + ">"
  );
}

function createCall(call, index) {
  const group = create("fieldset");
  group.append(create("legend", call.name), create("pre", formatArguments(call.arguments)));
  const choices = [
    ["approved", "Allow"],
    ["tool", "Allow all calls of " + call.name],
    ["denied", "Deny"],
  ];
  for (const [value, text] of choices) {
    const input = create("input", undefined, {
      type: "radio",
      name: "call-" + index,
      value,
      required: true,
    });
    const label = create("label");
    label.append(input, " " + text);
    group.append(label);
  }
  const reason = create("input", undefined, { name: "reason-" + index, placeholder: "Reason" });
  reason.setAttribute("aria-label", "Reason for the model");
  group.append(reason);
  return group;
}

function sessionPath(action, session = current) {
  return "sessions/" + encodeURIComponent(session.id) + (action ? "/" + action : "");
}

async function sendText(action) {
  const input = element("text");
  const text = input.value;
  if (text.trim() === "") return;
  const { id } = current;
  const path = sessionPath(action);
  // A request whose answer was lost is sent again with the same key.
  const key = current.key?.text === text ? current.key.value : crypto.randomUUID();
  current.key = { text, value: key };
  const headers = action === "prompt" ? { "idempotency-key": key } : {};
  await request("POST", path, { text }, { headers });
  if (current?.id !== id) return;
  current.key = undefined;
  input.value = "";
}

async function decide() {
  const data = new FormData(element("approvals"));
  const decisions = Object.fromEntries(current.calls.map(({ toolCallId }, index) => {
    const choice = data.get("call-" + index);
    const reason = String(data.get("reason-" + index)).trim();
    if (choice === "denied") return [toolCallId, { type: "denied", ...(reason && { reason }) }];
    return [toolCallId, { type: "approved", scope: choice === "tool" ? "tool" : "once" }];
  }));
  await request("POST", sessionPath("approvals"), { decisions });
}

element("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = element("token").value.trim();
  element("token").value = "";
  signIn().catch((error) => element("login-problem").textContent = error.message);
});
element("leave").addEventListener("click", () => {
  token = "";
  closeSession();
  showLogin("");
});
element("create").addEventListener("click", act(async () => {
  const { id } = await (await request("POST", "sessions", {})).json();
  void openSession(id, id);
  await listSessions();
}));
element("more").addEventListener("click", act(() => listSessions(true)));
element("compose").addEventListener("submit", act(() =>
  sendText(current.isActive ? "follow_up" : "prompt")
));
element("steer").addEventListener("click", act(() => sendText("steer")));
element("follow").addEventListener("click", act(() => sendText("follow_up")));
element("abort").addEventListener("click", act(() => request("POST", sessionPath("abort"), {})));
element("continue").addEventListener("click", act(() =>
  request("POST", sessionPath("continue"), {})
));
element("delete").addEventListener("click", act(async () => {
  if (!confirm("Delete this session for good?")) return;
  await request("DELETE", sessionPath(""));
  closeSession();
  await listSessions();
}));
element("approvals").addEventListener("submit", act(decide));
element("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element("compose").requestSubmit();
});
setInterval(() => {
  const isShown = document.visibilityState === "visible" && !element("app").hidden;
  if (isShown && element("sessions").children.length <= 50) void listSessions().catch(() => {});
}, 5000);
signIn().catch((error) => {
  if (error.status !== 401) showLogin(error.message);
});
`;
