// The site without a network. The build writes its version, and the paths of all files, into this.

const NAME = `cuvee-${"VERSION"}`;
const PATHS = ["PATHS"];

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(NAME);
    // A few at a time, so that the page that is read comes first.
    for (let at = 0; at < PATHS.length; at += 16) {
      await cache.addAll(PATHS.slice(at, at + 16).map((path) => new Request(new URL(path, self.registration.scope), { cache: "no-cache" })));
    }
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith("cuvee-") && name !== NAME).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  const answer = async () => {
    const url = new URL(request.url);
    url.search = url.hash = "";
    if (url.pathname.endsWith("/")) url.pathname += "index.html";
    const kept = await (await caches.open(NAME)).match(url);
    return kept ?? fetch(request);
  };
  event.respondWith(answer());
});
