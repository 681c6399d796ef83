/* A page that was opened from a folder may start no worker: the search then runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.waiting = [];
      const tell = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow;
        inside.postMessage = tell;
        inside.importScripts = (...addresses) =>
          addresses.reduce((before, next) => before.then(() => this.load(inside, next)), Promise.resolve());
        this.load(inside, address).then(() => {
          this.inside = inside;
          this.waiting.splice(0).forEach((data) => this.postMessage(data));
        });
      }, { once: true });
      document.body.append(frame);
    }

    load(inside, address) {
      return new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        script.src = address;
        script.onload = done;
        script.onerror = failed;
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      if (!this.inside) this.waiting.push(data);
      else this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {}
  };
}
