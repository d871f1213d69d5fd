// A page in a headless Chromium watches and steers a run:  node page.mjs URL SUBPROTOCOL CHROMIUM
// The page runs @foxglove/ws-protocol's own browser build; only the decoding of pictures is done out here.
import { chromium } from "playwright-core";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { decoder, plain } from "./decode.mjs";

const [url, subprotocol, executablePath] = process.argv.slice(2);
const modules = fileURLToPath(new URL("./node_modules/", import.meta.url));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
const problems = [];
page.on("pageerror", (error) => problems.push(String(error)));
page.on("console", (message) => message.type() === "error" && problems.push(message.text()));

// Served from this machine: Chromium lets no page from elsewhere reach it unasked.
const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://viewer.test");
  if (pathname === "/") {
    const imports = {
      "@foxglove/ws-protocol": "/@foxglove/ws-protocol/dist/esm/src/index.js",
      eventemitter3: "/eventemitter3/dist/eventemitter3.esm.js",
      tslib: "/tslib/tslib.es6.mjs",
      debug: "data:text/javascript,export default () => () => {}",
    };
    const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><link rel="icon" href="data:,">${map}`);
    return;
  }
  const paths = [pathname, `${pathname}.js`, `${pathname}/index.js`].map((p) => modules + p.slice(1));
  const found = paths.find((p) => existsSync(p) && /\.m?js$/.test(p));
  response.writeHead(found ? 200 : 404, { "content-type": "text/javascript" });
  // Written for bundlers: "." is the folder's index, which a browser does not know.
  response.end(found ? (await readFile(found, "utf8")).replaceAll('from "."', 'from "./index.js"') : "");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
await page.goto(`http://127.0.0.1:${server.address().port}/`);

const seen = await page.evaluate(
  async ({ url, subprotocol }) => {
    const { FoxgloveClient } = await import("@foxglove/ws-protocol");
    const client = new FoxgloveClient({ ws: new WebSocket(url, [subprotocol]) });
    const services = {};
    const channels = {};
    const topics = new Map();
    const messages = {};
    const replies = new Map();
    const times = [];
    const checks = new Set();
    const wake = () => checks.forEach((check) => check());
    let closed = false;
    const until = (condition) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (condition()) resolve();
          else if (closed) reject(new Error(`the server closed before: ${condition}`));
          else return;
          checks.delete(check);
        };
        checks.add(check);
        check();
      });
    const wanted = ["transforms", "scene", "scene_course", "faults"];
    client.on("advertiseServices", (all) => (all.forEach((s) => (services[s.name] = s)), wake()));
    client.on("advertise", (all) => {
      for (const channel of all) {
        if (!wanted.includes(channel.topic)) continue;
        channels[channel.topic] = channel;
        topics.set(client.subscribe(channel.id), channel.topic);
      }
      wake();
    });
    client.on("message", ({ subscriptionId, data }) => {
      messages[topics.get(subscriptionId)] = Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      wake();
    });
    client.on("time", ({ timestamp }) => (times.push(Number(timestamp)), wake()));
    client.on("serviceCallResponse", ({ callId, data }) => {
      replies.set(callId, JSON.parse(new TextDecoder().decode(data)));
      wake();
    });
    client.on("close", () => ((closed = true), wake()));
    let calls = 0;
    const call = async (name, args) => {
      await until(() => services[name]);
      const callId = ++calls;
      const data = new DataView(new TextEncoder().encode(JSON.stringify(args)).buffer);
      client.sendServiceCallRequest({ serviceId: services[name].id, callId, encoding: "json", data });
      await until(() => replies.has(callId));
      return replies.get(callId);
    };
    await until(() => times.length > 2 && wanted.slice(0, 3).every((topic) => messages[topic]));
    const paused = await call("/clock/pause", {});
    const stepped = await call("/clock/step", { ticks: 10 });
    const injected = await call("/fault/inject", { kind: "link_loss", duration_s: 0.02 });
    const resumed = await call("/clock/resume", {});
    await until(() => messages.faults);
    await call("/clock/rate", { factor: "max" });
    client.close();
    return { channels, messages, times, paused, stepped, injected, resumed };
  },
  { url, subprotocol },
);
await browser.close();
server.close();

const decoded = {};
for (const [topic, data] of Object.entries(seen.messages)) {
  const channel = seen.channels[topic];
  const schema = Buffer.from(channel.schema, channel.schemaEncoding === "protobuf" ? "base64" : "utf8");
  decoded[topic] = plain(decoder({ ...channel, schema })(new Uint8Array(data)));
}
const { paused, stepped, injected, resumed, times } = seen;
process.stdout.write(JSON.stringify({ decoded, paused, stepped, injected, resumed, times, problems }));
