import DefaultTheme from "vitepress/theme-without-fonts";
import { defineAsyncComponent } from "vue";
import { withBase } from "vitepress";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("CuveePlayground", defineAsyncComponent(() => import("../../playground/Playground.vue")));
    if (!import.meta.env.SSR && import.meta.env.PROD && "serviceWorker" in navigator) {
      // Once the page is there; where it cannot be kept, it is read over the network as before.
      addEventListener("load", () => navigator.serviceWorker.register(withBase("/sw.js")).catch(() => {}));
    }
  },
};
