// A viewer: connects with @foxglove/ws-protocol's client, subscribes to everything, decodes it, and follows a plan.
//   node viewer.mjs URL SUBPROTOCOL PLAN
// PLAN is a JSON array of steps; the result of each is printed with everything seen, as one JSON object.
import protocol from "@foxglove/ws-protocol";
import WebSocket from "ws";
import { decoder, plain } from "./decode.mjs";

const [url, subprotocol, planText] = process.argv.slice(2);
const seen = { channels: {}, services: {}, counts: {}, last: {}, first: {}, errors: [], status: [], times: [], stamps: {} };
const decoders = new Map();
const waiting = new Set();
const wake = () => waiting.forEach((check) => check());

function until(condition, what, seconds = 60) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${seconds} s for ${what}`)), seconds * 1000);
    const check = () => {
      if (condition()) {
        clearTimeout(timer);
        waiting.delete(check);
        resolve();
      }
    };
    waiting.add(check);
    check();
  });
}

const client = new protocol.FoxgloveClient({ ws: new WebSocket(url, [subprotocol]) });
let closed = false;
client.on("serverInfo", (info) => ((seen.info = info), wake()));
client.on("error", (error) => seen.errors.push(String(error?.message ?? error)));
client.on("close", () => ((closed = true), wake()));
client.on("status", (status) => (seen.status.push(status), wake()));
client.on("time", ({ timestamp }) => (seen.times.push(Number(timestamp)), wake()));
client.on("advertiseServices", (services) => {
  for (const service of services) seen.services[service.name] = service;
  wake();
});
client.on("advertise", (channels) => {
  for (const channel of channels) {
    seen.channels[channel.topic] = channel;
    const binary = channel.schemaEncoding === "protobuf";
    const schema = binary ? Buffer.from(channel.schema, "base64") : Buffer.from(channel.schema, "utf8");
    const id = client.subscribe(channel.id);
    decoders.set(id, { topic: channel.topic, decode: decoder({ ...channel, schema }) });
  }
  wake();
});
client.on("message", ({ subscriptionId, timestamp, data }) => {
  const { topic, decode } = decoders.get(subscriptionId);
  try {
    const message = decode(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    seen.counts[topic] = (seen.counts[topic] ?? 0) + 1;
    seen.stamps[topic] = Number(timestamp);
    seen.first[topic] ??= plain(message);
    seen.last[topic] = plain(message);
  } catch (error) {
    seen.errors.push(`${topic}: ${error.message}`);
  }
  wake();
});
const replies = new Map();
client.on("serviceCallResponse", ({ callId, data }) => {
  replies.set(callId, { ok: true, reply: JSON.parse(new TextDecoder().decode(data)) });
  wake();
});
client.on("serviceCallFailure", ({ callId, message }) => (replies.set(callId, { ok: false, message }), wake()));
const parameters = new Map();
client.on("parameterValues", ({ parameters: values, id }) => (parameters.set(id, values), wake()));
client.on("connectionGraphUpdate", (update) => ((seen.graph = update), wake()));

let nextCall = 1;
const steps = {
  async topics({ names, count = 1 }) {
    await until(() => names.every((name) => (seen.counts[name] ?? 0) >= count), `messages on ${names}`);
  },
  async time({ seconds }) {
    await until(() => seen.times.at(-1) >= seconds * 1e9, `time ${seconds} s`);
  },
  async call({ name, args, text, id }) {
    await until(() => id != null || seen.services[name], `service ${name}`);
    const callId = nextCall++;
    const data = new TextEncoder().encode(text ?? JSON.stringify(args ?? {}));
    const serviceId = id ?? seen.services[name].id;
    client.sendServiceCallRequest({ serviceId, callId, encoding: "json", data: new DataView(data.buffer) });
    await until(() => replies.has(callId), `reply of ${name}`);
    return replies.get(callId);
  },
  async get({ names = [] }) {
    client.getParameters(names, "get");
    await until(() => parameters.has("get"), "parameters");
    const values = parameters.get("get");
    parameters.delete("get");
    return Object.fromEntries(values.map(({ name, value }) => [name, value]));
  },
  async set({ values }) {
    client.setParameters(Object.entries(values).map(([name, value]) => ({ name, value })), "set");
    await until(() => parameters.has("set"), "parameters set");
    const now = parameters.get("set");
    parameters.delete("set");
    return Object.fromEntries(now.map(({ name, value }) => [name, value]));
  },
  async graph() {
    client.subscribeConnectionGraph();
    await until(() => seen.graph, "connection graph");
    return seen.graph;
  },
  async status({ text }) {
    await until(() => seen.status.some((s) => s.message.includes(text)), `status ${text}`);
  },
  async closed() {
    await until(() => closed, "the end");
  },
};

const results = [];
try {
  await until(() => seen.info, "the server's greeting");
  for (const step of JSON.parse(planText)) results.push((await steps[step.do](step)) ?? null);
} catch (error) {
  seen.errors.push(`plan: ${error.message}`);
}
const times = { first: seen.times[0], last: seen.times.at(-1), count: seen.times.length };
process.stdout.write(JSON.stringify({ results, ...seen, times }), () => process.exit(0));
